"""The harness: draw and check cases of every section until the time is over, and print a table.

    PYTHONPATH=tests python -m reliability.fuzz --seconds 600 --seed 0
    PYTHONPATH=tests python -m reliability.fuzz --only units --case 123

A case depends on the seed, its section and its number alone, so a failure is repeated by ``--only`` and ``--case``.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reliability.fuzz import Case, NothingToCheckError, commands, files, oracles, problems, programs, runs

PATIENCE = 120
"""Seconds after which a case counts as one that hangs."""


@dataclass
class Section:
    """A promise with its cases, and the record of those tried."""

    promise: str
    draw: Callable[[np.random.Generator], Case]
    tried: int = 0
    decided: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


def sections() -> dict[str, Section]:
    """Return every section by name."""
    return {
        "readers": Section("a damaged file is read or refused in one line, within its memory", files.draw_reader),
        "resumes": Section("a run that was killed resumes to the same bits", runs.draw_resume),
        "oracles": Section(
            "a wrong oracle, adjoint or conjugate yields neither a false answer nor a false rigorous bound",
            oracles.draw,
        ),
        "units": Section("units change neither status nor answer", problems.draw_units),
        "optima": Section("bounds, solved and infeasible agree with Clarabel", problems.draw_optimum),
        "programs": Section("semidefinite programs agree with Clarabel, in all units", programs.draw_program),
        "threads": Section("two runs in two threads equal the same runs alone", runs.draw_threads),
        "signals": Section("a signal ends a command in seconds and its files are whole", commands.draw_signal),
    }


class HangError(BaseException):
    """A case that takes too long; not an Exception, which the library may handle."""


@contextmanager
def watchdog() -> Iterator[None]:
    """End the case that runs in this block when it hangs."""

    def bark(*_: Any) -> None:
        raise HangError(f"not done after {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, bark)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_case(name: str, section: Section, seed: int, number: int) -> str | None:
    """Check one case; return what failed, with its traceback, or None."""
    begun, case = time.perf_counter(), Case("drawing", lambda folder: None)
    try:
        case = section.draw(np.random.default_rng([seed, zlib.crc32(name.encode()), number]))
        with watchdog(), tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            case.check(Path(folder))
        section.decided += 1
    except NothingToCheckError:
        return None
    except (Exception, HangError) as error:
        what = f"{case.name}: {type(error).__name__}: {str(error)[:300]}"
        section.decided += 1
        section.failures.append(f"--only {name} --case {number}  {what}")
        return f"{what}\n{traceback.format_exc()}"
    finally:
        section.tried += 1
        section.seconds += time.perf_counter() - begun
    return None


def run(chosen: dict[str, Section], seed: int, seconds: float) -> None:
    """Try cases until the time is over, each from the section that has had the least time; print failures."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        name, section = min(chosen.items(), key=lambda item: item[1].seconds)
        if try_case(name, section, seed, section.tried) is not None:
            print(f"FAILED --seed {seed} {section.failures[-1]}", flush=True)


def table(chosen: dict[str, Section], seed: int) -> str:
    """Return the table of promises in Markdown, as the documentation shows it."""
    failures = sum(len(each.failures) for each in chosen.values())
    tried, decided = (sum(getattr(each, name) for each in chosen.values()) for name in ("tried", "decided"))
    total = f"{decided:,} cases decided of {tried:,} tried, {failures} failures"
    rows = ["| section | promise | decided | tried | failures |", "|---|---|---|---|---|"]
    rows += [
        f"| {name} | {each.promise} | {each.decided:,} | {each.tried:,} | {len(each.failures)} |"
        for name, each in chosen.items()
    ]
    return "\n".join([f"Seed {seed}, {sum(each.seconds for each in chosen.values()):.0f} s: {total}.", "", *rows])


def main(arguments: list[str] | None = None) -> int:
    """Run the harness; return 1 if a promise was broken."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell ignores in the background, children too
    known = sections()
    parser = argparse.ArgumentParser(prog="fuzz", description="Seeded random trials of what the library promises.")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=list(known), default=list(known))
    parser.add_argument("--case", type=int, help="a single case of one section, with its traceback")
    given = parser.parse_args(arguments)
    chosen = {name: known[name] for name in given.only}
    if given.case is not None:
        for name, section in chosen.items():
            print(name, try_case(name, section, given.seed, given.case) or "holds")
    else:
        run(chosen, given.seed, given.seconds)
        print(table(chosen, given.seed))
    return int(any(each.failures for each in chosen.values()))


if __name__ == "__main__":
    sys.exit(main())
