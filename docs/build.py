"""Build the documentation into ``out/site``, warnings as errors; ``--quick``, without the gallery: ``out/site-quick``.

    python docs/build.py [--quick] [--into FOLDER]

Sphinx works on a copy of the sources, so that the pages it generates (gallery, reference) stay out of ``docs/``.
Repeated builds are incremental: scripts of the gallery run again only when they change.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent
ROOT = SOURCES.parent
GENERATED = (
    "gallery",
    "reference/generated",
    "reference/backreferences",
    "reference/blocks",
    "reference/building-blocks.md",
    "reference/commands.md",
)


def copy_sources(target: Path) -> None:
    """Make ``target`` a copy of the sources; what Sphinx generated there stays."""
    for path in sorted(target.rglob("*"), reverse=True):
        place = path.relative_to(target)
        if not place.as_posix().startswith(GENERATED) and not (SOURCES / place).exists():
            path.rmdir() if path.is_dir() and not any(path.iterdir()) else path.unlink(missing_ok=True)
    shutil.copytree(SOURCES, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))


def main() -> int:
    """Run Sphinx and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="do not run the gallery")
    parser.add_argument("--into", type=Path, default=None, help="folder of the site")
    parser.add_argument("--jobs", default="1", help="processes that write pages")
    chosen = parser.parse_args()
    for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(threads, "1")
    os.environ["UNIPD_DOCS_QUICK"] = "1" if chosen.quick else ""
    kind = "-quick" if chosen.quick else ""
    source = ROOT / "out" / f"docs{kind}"
    copy_sources(source)

    from sphinx.cmd.build import main as sphinx_build

    site = chosen.into or ROOT / "out" / f"site{kind}"
    doctrees = ROOT / "out" / f"doctrees{kind}"
    return sphinx_build(
        ["-b", "html", "-W", "--keep-going", "-q", "-j", chosen.jobs, "-d", str(doctrees), str(source), str(site)]
    )


if __name__ == "__main__":
    sys.exit(main())
