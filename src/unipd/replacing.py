"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def replacing(target: Path) -> Generator[BinaryIO, None, None]:
    """Write beside the target and rename: whoever reads sees the old file or the new one, safely on disk.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "a.txt")) as stream:
    ...         _ = stream.write(b"whole")
    ...     [path.name for path in Path(folder).iterdir()]
    ['a.txt']
    """
    part = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with open(part, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
