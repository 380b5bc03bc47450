r"""Sphinx extension: docstrings write formulas in ASCII (``A* lam``, ``||x||_1``), which are text, not markup.

Characters that reStructuredText would interpret are escaped, except in literals, roles, emphasis and doctests.
"""

from __future__ import annotations

import re
from typing import Any

KEPT = re.compile(
    r"""
    (?P<literal>``.+?``)                                    # code
    | (?P<role>:[a-z:]+:`[^`]+`)                            # a cross-reference
    | (?P<emphasis>(?<![\w*\\)\]])\*[A-Za-z][^*|]*[\w.]\*(?![\w*]))    # *a term*
    """,
    re.VERBOSE,
)
MARKUP = re.compile(r"[*|`\\]|(?<=\w)_(?!\w)")


def escape_line(line: str) -> str:
    r"""Return a line of prose with its special characters escaped.

    >>> print(escape_line("the norm ||A* lam|| of ``A*`` is *dual*"))
    the norm \|\|A\* lam\|\| of ``A*`` is *dual*
    """
    parts, end = [], 0
    for kept in KEPT.finditer(line):
        parts += [MARKUP.sub(r"\\\g<0>", line[end : kept.start()]), kept.group()]
        end = kept.end()
    return "".join([*parts, MARKUP.sub(r"\\\g<0>", line[end:])])


def escape_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring in place, doctests and directives apart."""
    in_doctest = False
    for index, line in enumerate(lines):
        in_doctest = bool(line.strip()) and (in_doctest or line.lstrip().startswith(">>>"))
        if not in_doctest and not line.lstrip().startswith(".. "):
            lines[index] = escape_line(line)


def skip_routing(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool:
    """Leave out the request methods that scikit-learn generates."""
    return skip or bool(re.fullmatch(r"set_\w+_request", name))


def setup(app: Any) -> dict[str, bool]:
    """Register the extension; numpydoc comes after it."""
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.connect("autodoc-skip-member", skip_routing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
