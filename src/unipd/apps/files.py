"""Files of every kind of run: :func:`load` returns what was saved, a result or a fitted model."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from unipd.io import results


def load(path: str | os.PathLike[str]) -> Any:
    """Read a file that ``save`` wrote; a damaged file or one of another kind raises ``FileFormatError``.

    A result (:class:`unipd.Result`) can be plotted, polished (``unipd.polish(problem, result)``) and continued from
    (``unipd.solve(problem, start=result)``) like a fresh one, with the problem built again. A completion model
    (:class:`unipd.MatrixCompletion`, ``unipd complete --out``) predicts, recommends and goes on with ``partial_fit``;
    its result is ``result_``. The ``state`` of a tomography (``unipd tomography --out``) is its
    :class:`~unipd.apps.tomography.QuantumState`.

    Parameters
    ----------
    path
        Path of the file.

    Returns
    -------
    Result or model
        What the file holds: a result, or a fitted model that predicts.

    See Also
    --------
    save, unipd.apps.completion.load_model

    Examples
    --------
    >>> import tempfile, unipd
    >>> model = unipd.MatrixCompletion(2.0).fit(([1, 1, 2], [5, 6, 5], [3.0, 4.0, 5.0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = load(model.save(f"{folder}/model.npz"))
    >>> len(loaded.partial_fit(([3], [6], [2.0])).users_)
    3
    """
    result = results.load(path)
    if {"eigenvalues", "eigenvectors", "purity"} <= set(result.extras):
        from unipd.apps.tomography import as_state

        return replace(result, note=result.message, state=as_state(result))
    if "completion" not in result.extras:
        return result
    from unipd.apps.completion.saved_model import restore_model

    return restore_model(result, path)
