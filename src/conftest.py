"""Imports what doctests follow at work: pytest imports a file on its own a second time when its package does so too."""

import unipd.run  # noqa: F401  # pyright: ignore[reportUnusedImport]
