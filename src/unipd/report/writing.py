"""Write a text file whole or not at all."""

from __future__ import annotations

from pathlib import Path

from unipd.replacing import replacing


def write_text(target: Path, text: str) -> None:
    """Write text in UTF-8, with plain line ends: the whole file or none of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder, "a.txt"), "whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    with replacing(target) as stream:
        stream.write(text.encode("utf-8"))
