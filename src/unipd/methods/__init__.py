"""Methods: an initial state and a step each; the loop of :mod:`unipd.run` does the rest.

Read base (state, certificate, what a method is), universal/ (the paper's Algorithms 1 and 2), frank_wolfe/,
corrective/, coordinate/ and factored/, norm_barrier (the least nuclear norm of small matrices), cgal, wrappers/
(methods around a method), and auto (which method a problem gets). step_size holds the steps along a segment that
several of them take.
"""

from unipd._util.lazy import lazy_exports
from unipd.methods.auto import METHODS as METHODS
from unipd.methods.auto import as_method as as_method
from unipd.methods.base import Certificate as Certificate
from unipd.methods.base import Counts as Counts
from unipd.methods.base import Method as Method
from unipd.methods.base import State as State
from unipd.methods.base import common_fields as common_fields
from unipd.methods.base import fast_replace as fast_replace
from unipd.methods.base import keep_incumbent as keep_incumbent
from unipd.methods.base import merit as merit
from unipd.methods.base import method_options as method_options

__getattr__, __dir__, __all__ = lazy_exports(__name__)
