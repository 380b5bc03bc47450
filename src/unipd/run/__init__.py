"""The one loop and what observes it."""
