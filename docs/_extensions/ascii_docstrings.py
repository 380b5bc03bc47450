r"""Sphinx extension: docstrings write formulas in ASCII (``A* lam``, ``||x||_1``), which are text, not markup.

Characters that reStructuredText would interpret are escaped, except in literals, roles, emphasis and doctests. In the
docstrings of the paper's methods and theorems, formulas are recognised and set as such.
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
WITH_FORMULAS = re.compile(r"unipd\.(theory|methods\.universal|UniPDGrad|AccUniPDGrad|QuasiNewton|CGAL)\b")
"""Names whose docstrings speak of mathematics."""
SECTIONS_OF_PROSE = ("Notes", "Warnings", "Examples")
"""Sections in which lines without indentation are prose; in others they are names."""
SYMBOLS = {
    **{
        name: "\\" + name
        for name in ("nu", "gamma", "mu", "beta", "eta", "delta", "Delta", "sqrt", "sum", "min", "max")
    },
    **{name: rf"\operatorname{{{name}}}" for name in ("dist", "prox", "diam")},
    **{"lam": r"\lambda", "eps": r"\varepsilon", "grad": r"\nabla", "log2": r"\log_2", "xbar": r"\bar x"},
    **{"#": r"\sharp", "lambda-hat": r"\hat\lambda", "M_bar": r"\bar M", "G_bar": r"\bar G"},
    **{"||": r"\|", "<=": r"\le", ">=": r"\ge", "->": r"\to", "<": r"\langle", ">": r"\rangle", "{": r"\{", "}": r"\}"},
}
"""What words and signs stand for; others stand for themselves."""
WORD = rf"(?:{'|'.join(name for name in SYMBOLS if name[0].isalpha())}|[A-Zb-z])(?!-?[A-Za-z])'?"
SCRIPT = r"[_^](?:[*#]|\d+|\{[^{}]*\}|\((?:[^()]|\([^()]*\))*\)|(?:nu|max|[a-z])(?![A-Za-z]))"
SIGN = r"(?:<=|>=|->|[-+/=])"
TOKEN = re.compile(rf"(?P<script>{SCRIPT})|{WORD}|\d[\d.]*|<=|>=|->|\|\||.")


def _formula(depth: int, sign: str = SIGN) -> str:
    """Return the pattern of a formula whose brackets are nested at most so deep; inside brackets there are commas."""
    operand = rf"{WORD}|\d+(?:\.\d+)?"
    if depth:
        inside = _formula(depth - 1, f"(?:{SIGN}|,)")
        operand += rf"|[(\[{{<]{inside}[)\]}}>]|\|\|{inside}\|\|"
    operand = f"(?:{operand})(?:{SCRIPT})*"
    return rf"-?{operand}(?: ?(?:{sign} ?-?)?{operand})*"


FORMULA = re.compile(rf"(?<![\w.^']){_formula(3)}(?!\w)")
PLAIN = re.compile(r"A|sum|min|max|[^A-Za-z]*")
"""What looks like a formula and may be prose: the article, numbers."""


def to_latex(formula: str) -> str:
    r"""Return a formula in LaTeX.

    >>> print(to_latex("lambda-hat_k - grad g(lam') / M_{k-1}"), to_latex("||A^* lam||^(q/2) <= sqrt(1 + 4 t_k^2)"))
    \hat\lambda_{k} - \nabla g(\lambda') / M_{k-1} \|A^{*} \lambda\|^{q/2} \le \sqrt{1 + 4 t_{k}^{2}}
    """
    latex = ""
    for token in TOKEN.finditer(formula):
        part = token.group()
        if token["script"]:
            inside = part[2:-1] if part[1] in "{(" else part[1:]
            part = f"{part[0]}{{{to_latex(inside)}}}"
        else:
            part = SYMBOLS.get(part.rstrip("'"), part.rstrip("'")) + "'" * part.endswith("'")
        latex += " " * (part[0].isalnum() and re.search(r"\\[A-Za-z]+$", latex) is not None) + part
    return re.sub(r"\\sqrt\(((?:[^()]|\([^()]*\))*)\)", r"\\sqrt{\1}", latex)


def set_formulas(text: str) -> str:
    r"""Return prose with its formulas as roles and the rest escaped.

    >>> print(set_formulas("with O(eps^(-2/(1+3 nu))) calls (A proof: Theorem 4.2)"))
    with \ :math:`O(\varepsilon^{-2/(1+3 \nu)})`\  calls (A proof: Theorem 4.2)
    """
    parts, end = [], 0
    for found in FORMULA.finditer(text):
        if not PLAIN.fullmatch(found.group()):
            parts += [MARKUP.sub(r"\\\g<0>", text[end : found.start()]), rf"\ :math:`{to_latex(found.group())}`\ "]
            end = found.end()
    return "".join([*parts, MARKUP.sub(r"\\\g<0>", text[end:])])


def escape_line(line: str, formulas: bool = False) -> str:
    r"""Return a line of prose with its special characters escaped, and on request its formulas set.

    >>> print(escape_line("the norm ||A* lam|| of ``A*`` is *dual*"))
    the norm \|\|A\* lam\|\| of ``A*`` is *dual*
    """
    parts, end = [], 0
    for kept in [*KEPT.finditer(line), None]:
        text = line[end : len(line) if kept is None else kept.start()]
        parts += [set_formulas(text) if formulas else MARKUP.sub(r"\\\g<0>", text)]
        if kept is not None:
            parts, end = [*parts, kept.group()], kept.end()
    return "".join(parts)


def escape_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring in place, doctests and directives apart."""
    in_doctest, section, formulas = False, "Notes", WITH_FORMULAS.match(name) is not None
    for index, line in enumerate(lines):
        in_doctest = bool(line.strip()) and (in_doctest or line.lstrip().startswith(">>>"))
        if re.fullmatch(r"-{3,}", "".join(lines[index + 1 : index + 2])):
            section = line
        elif not in_doctest and not line.lstrip().startswith(".. "):
            is_prose = section in SECTIONS_OF_PROSE or line.startswith(" ")
            lines[index] = escape_line(line, formulas and is_prose)


def skip_routing(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool:
    """Leave out the request methods that scikit-learn generates."""
    return skip or bool(re.fullmatch(r"set_\w+_request", name))


def setup(app: Any) -> dict[str, bool]:
    """Register the extension; numpydoc comes after it."""
    app.connect("autodoc-process-docstring", escape_docstring, priority=100)
    app.connect("autodoc-skip-member", skip_routing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
