"""What a check found, one line each, and the table of them."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

PASS, FAIL, NOTE, SKIP = "pass", "fail", "note", "skip"


@dataclass(frozen=True)
class Check:
    """One finding: "pass", "fail", "note" (worth knowing, not wrong) or "skip" (could not be checked)."""

    name: str
    outcome: str
    detail: str

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return self.outcome != FAIL


@dataclass(frozen=True)
class Report:
    """Findings in order; prints as a table and shows as HTML in notebooks.

    >>> report = Report((Check("adjoint", PASS, "to 1e-16"), Check("scaling", NOTE, "rows differ")))
    >>> report.ok
    True
    >>> print(report)
    pass  adjoint  to 1e-16
    note  scaling  rows differ
    """

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return all(check.ok for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.ok)

    def __getitem__(self, name: str) -> Check:
        """Return the check of this name."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def __add__(self, other: Report) -> Report:
        return Report(self.checks + other.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the findings as plain values (what ``unipd doctor --json`` prints)."""
        return {"ok": self.ok, "checks": [vars(check) for check in self.checks]}

    def __str__(self) -> str:
        width = max((len(check.name) for check in self.checks), default=0)
        return "\n".join(f"{check.outcome:<4}  {check.name:<{width}}  {check.detail}" for check in self.checks)

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><td>{check.outcome}</td><th style='text-align:left'>{html.escape(check.name)}</th>"
            f"<td style='text-align:left'>{html.escape(check.detail)}</td></tr>"
            for check in self.checks
        )
        return f"<table>{''.join(rows)}</table>"


def guarded(name: str, finding: Callable[[], Check | Iterable[Check]]) -> tuple[Check, ...]:
    """Return what a check finds; an exception from the code that is being checked is a failure of the check."""
    try:
        found = finding()
        return (found,) if isinstance(found, Check) else tuple(found)
    except Exception as error:
        return (Check(name, FAIL, f"raised {type(error).__name__}: {first_line(error)}"),)


def first_line(error: BaseException) -> str:
    """Return an exception's message up to the first line break.

    >>> first_line(ValueError("too short"))
    'too short'
    """
    return str(error).split("\n", 1)[0]


def verdict(name: str, problem: str | None, fine: str) -> Check:
    """Return a failure with what is wrong, or a pass when nothing is."""
    return Check(name, PASS, fine) if problem is None else Check(name, FAIL, problem)
