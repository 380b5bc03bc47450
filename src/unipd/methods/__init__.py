"""Methods: one a file, each an initial state and a step."""
