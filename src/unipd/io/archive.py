"""NumPy archives, read with nothing unpickled and every kind of damage told apart from a file that cannot be opened."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib

import numpy as np

from unipd._typing import Array

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    TypeError,
    KeyError,
    SyntaxError,
    OverflowError,
    MemoryError,
    RuntimeError,
)
"""What zipfile and NumPy raise at some damaged archive or other; NotImplementedError is a RuntimeError."""


class DamagedArchive(ValueError):
    """A file that can be opened but is no readable archive."""


def read_arrays(path: str | os.PathLike[str]) -> dict[str, Array]:
    """Return the arrays of an ``.npz`` file by name.

    A file that is not there or may not be read raises OSError as usual; what is no archive, damaged or pickled raises
    :class:`DamagedArchive`.
    """
    with open(path, "rb") as stream:
        try:
            if not zipfile.is_zipfile(stream):  # NumPy would also read a bare array
                raise zipfile.BadZipFile("no zip archive")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        except _DAMAGE as error:
            raise DamagedArchive(str(error) or type(error).__name__) from error
