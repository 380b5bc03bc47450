"""Problems from Python: ``package.module:name`` or ``file.py:name``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from unipd.errors import InvalidInput, UnipdError
from unipd.problem import Problem


def load_problem(reference: str) -> Problem:
    """Return the problem that ``MODULE:NAME`` names: an object, or what a function without arguments returns."""
    value = load_object(reference)
    if not isinstance(value, Problem) and callable(value):
        try:
            value = value()
        except UnipdError:
            raise
        except Exception as error:
            raise InvalidInput(
                reference, "a function that makes a problem", f"{type(error).__name__}: {error}"
            ) from error
    if not isinstance(value, Problem):
        raise InvalidInput(reference, "a unipd.Problem or a function that returns one", type(value).__name__)
    return value


def load_object(reference: str) -> Any:
    """Return the object that ``MODULE:NAME`` or ``FILE.py:NAME`` names.

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
    """Import with ``folder`` on the path; what goes wrong in a user's module is the user's to mend."""
    sys.path.insert(0, folder)
    try:
        return action()
    except UnipdError:
        raise
    except Exception as error:
        raise InvalidInput(place, "a module that can be imported", f"{type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
