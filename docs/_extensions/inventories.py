"""Inventories of other projects for links into their documentation, fetched once and kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

PROJECTS = {
    "python": "https://docs.python.org/3/",
    "numpy": "https://numpy.org/doc/stable/",
    "scipy": "https://docs.scipy.org/doc/scipy/",
    "sklearn": "https://scikit-learn.org/stable/",
    "matplotlib": "https://matplotlib.org/stable/",
    "cvxpy": "https://www.cvxpy.org/",
    "qiskit": "https://quantum.cloud.ibm.com/docs/api/qiskit/",
}
SECONDS = 3.0
"""A build without a network loses this much, once: links to the projects are then plain text."""


def reachable(folder: Path) -> dict[str, tuple[str, str]]:
    """Return the mapping of intersphinx for the inventories in ``folder`` and those that could be fetched."""
    with ThreadPoolExecutor(len(PROJECTS)) as pool:
        files = pool.map(lambda name: _fetch(PROJECTS[name], folder / f"{name}.inv"), PROJECTS)
    return {name: (PROJECTS[name], str(file)) for name, file in zip(PROJECTS, files, strict=True) if file}


def _fetch(address: str, file: Path) -> Path | None:
    """Return the file with a project's inventory, or None if it cannot be had."""
    if not file.exists():
        try:
            with urlopen(address + "objects.inv", timeout=SECONDS) as reply:
                content = reply.read()
        except (URLError, OSError):
            return None
        if not content.startswith(b"# Sphinx inventory"):
            return None
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return file
