"""Problems on the command line: ``MODULE:NAME``, ``FILE.py:NAME``, and generated demos."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from unipd.errors import InvalidInput, UnipdError

if TYPE_CHECKING:
    from unipd.apps.sdp import SDP
    from unipd.problem import Problem


def is_python(problem: str) -> bool:
    """Whether an argument names a Python object, not a file."""
    return ":" in problem and not Path(problem).exists()


def load_problem(reference: str) -> Problem:
    """Return the problem ``MODULE:NAME``: an object, or the return value of a function without arguments."""
    from unipd.problem import Problem

    value = load_object(reference)
    if not isinstance(value, Problem) and callable(value):
        try:
            value = value()
        except UnipdError:
            raise
        except Exception as error:
            raise InvalidInput(
                reference, "a function that returns a problem", f"{type(error).__name__}: {error}"
            ) from error
    if not isinstance(value, Problem):
        raise InvalidInput(reference, "a unipd.Problem or a function that returns one", type(value).__name__)
    return value


def load_object(reference: str) -> Any:
    """Return the object ``MODULE:NAME`` or ``FILE.py:NAME``.

    >>> load_object("math:pi")
    3.141592653589793
    """
    place, separator, name = reference.rpartition(":")
    if not (separator and place and name):
        raise InvalidInput("problem", "MODULE:NAME or FILE.py:NAME", repr(reference))
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise InvalidInput("problem", f"a name that {place} defines", repr(name))
        value = getattr(value, part)
    return value


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError(2, "No such file", str(path))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidInput("problem", "a Python file", repr(str(path)))
    module = importlib.util.module_from_spec(spec)
    _run(lambda: spec.loader.exec_module(module), str(path), str(path.parent.resolve()))  # pyright: ignore[reportOptionalMemberAccess]
    return module


def _from_name(name: str) -> ModuleType:
    return _run(lambda: importlib.import_module(name), name, str(Path.cwd()))


def _run(action: Any, place: str, folder: str) -> Any:
    """Import with ``folder`` on the path; errors of a user-supplied module are reported as invalid input."""
    sys.path.insert(0, folder)
    try:
        return action()
    except UnipdError:
        raise
    except Exception as error:
        raise InvalidInput(place, "a module that can be imported", f"{type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)


def least_squares(size: int, seed: int) -> Problem:
    """Return 1/2 ||A x - b||^2 over an l1 ball, with a sparse solution and a little noise."""
    import numpy as np

    import unipd

    random = np.random.default_rng(seed)
    rows = max(4, size // 4)
    A = random.standard_normal((rows, size)) / np.sqrt(rows)
    truth = np.zeros(size)
    truth[random.choice(size, max(1, rows // 10), replace=False)] = 1.0
    b = A @ truth + 0.05 * random.standard_normal(rows)
    return unipd.Problem(unipd.sharp.L1Ball(size, 0.9 * float(truth.sum())), A, b, unipd.couplings.LeastSquares())


def linear_program(size: int, seed: int) -> Problem:
    """Return min c^T x over the simplex subject to A x = b, with b from the middle of the simplex."""
    import numpy as np

    import unipd

    random = np.random.default_rng(seed)
    rows = max(2, size // 20)
    A = random.standard_normal((rows, size)) / np.sqrt(size)
    sharp = unipd.sharp.Linear(random.random(size), unipd.sharp.Simplex(size))
    return unipd.Problem(sharp, A, A @ np.full(size, 1.0 / size), "=")


def maximum_cut(size: int, seed: int) -> SDP:
    """Return the semidefinite relaxation of the maximum cut of a random graph with about four edges per node."""
    import numpy as np

    from unipd.apps.graphs.maxcut import maxcut_program
    from unipd.io import Graph

    ends = np.sort(np.random.default_rng(seed).integers(0, size, (2, 4 * size)), axis=0)
    ends = np.unique(ends[:, ends[0] < ends[1]], axis=1)
    return maxcut_program(Graph.of(size, ends[0], ends[1], np.ones(ends.shape[1])))


DEMOS: dict[str, tuple[Callable[[int, int], Any], int, str]] = {
    "least-squares": (least_squares, 800, "least squares over an l1 ball"),
    "linear-program": (linear_program, 400, "a linear program over the simplex"),
    "maxcut": (maximum_cut, 100, "the semidefinite relaxation of a maximum cut"),
}
"""Function, default size and description of each generated problem."""
