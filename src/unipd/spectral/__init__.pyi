from unipd.spectral.certify import Certification as Certification
from unipd.spectral.certify import Certified as Certified
from unipd.spectral.certify import certified_upper as certified_upper
from unipd.spectral.certify import cholesky_bound as cholesky_bound
from unipd.spectral.operators import norm_bound as norm_bound
from unipd.spectral.certify import smallest_eigenpair as smallest_eigenpair
from unipd.spectral.certify import certify_eigenvalues as certify_eigenvalues
from unipd.spectral.certify import certify_singular_value as certify_singular_value
from unipd.spectral.engine import PRECISION as PRECISION
from unipd.spectral.engine import SOLVERS as SOLVERS
from unipd.spectral.engine import Engine as Engine
from unipd.spectral.engine import fixed_tolerance_engine as fixed_tolerance_engine
from unipd.spectral.operators import BOUND_KINDS as BOUND_KINDS
from unipd.spectral.operators import CLAIMED as CLAIMED
from unipd.spectral.operators import CONDITIONAL as CONDITIONAL
from unipd.spectral.operators import PROBABILISTIC as PROBABILISTIC
from unipd.spectral.operators import RESIDUAL as RESIDUAL
from unipd.spectral.operators import RIGOROUS as RIGOROUS
from unipd.spectral.operators import STATED as STATED
from unipd.spectral.operators import weakest_bound as weakest_bound
from unipd.spectral.symmetric import SymmetricOperator as SymmetricOperator
from unipd.spectral.symmetric import has_compiled_lanczos as has_compiled_lanczos
from unipd.spectral.symmetric import top_eigenvalue as top_eigenvalue
from unipd.spectral.certify import bracket
from unipd.spectral.certify import gershgorin_upper
from unipd.spectral.certify import gram_norm_upper
from unipd.spectral.certify import rigorous_upper
from unipd.spectral.certify import block_upper_bound
from unipd.spectral.krylov import Bidiagonal
from unipd.spectral.krylov import CompiledBidiagonalization
from unipd.spectral.krylov import Basis
from unipd.spectral.krylov import Limits
from unipd.spectral.krylov import length_of
from unipd.spectral.engine import starting_block
from unipd.spectral.operators import Triples
from unipd.spectral.operators import Gram
from unipd.spectral.operators import Products
from unipd.spectral.krylov import Stop
from unipd.spectral.krylov import value_error
from unipd.spectral.kernels import all_at_most
from unipd.spectral.kernels import chase
from unipd.spectral.kernels import find_next_eigenvalue
from unipd.spectral.kernels import may_stop
from unipd.spectral.kernels import may_stop_if_due
from unipd.spectral.kernels import orthonormalize_rows
from unipd.spectral.kernels import top_triple
from unipd.spectral.kernels import update_left_omega
from unipd.spectral.kernels import update_right_omega
from unipd.spectral.symmetric import csr_block
from unipd.spectral.symmetric import csr_three_term
from unipd.spectral.symmetric import lanczos_steps
from unipd.spectral.symmetric import remove_component
from unipd.spectral.certify import affords_rigorous
from unipd.spectral.certify import bracket_of_run
from unipd.spectral.certify import weight_quantile
from unipd.spectral.operators import LazyDifference
from unipd.spectral.operators import difference
from unipd.spectral.operators import pairing
