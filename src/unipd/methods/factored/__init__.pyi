from unipd.methods.factored.factored import Factored as Factored
from unipd.methods.factored.factored import is_factorable as is_factorable
from unipd.methods.factored.augmented_lagrangian import AugmentedLagrangian
from unipd.methods.factored.augmented_lagrangian import FactoredState
from unipd.methods.factored.augmented_lagrangian import stationarity
from unipd.methods.factored.fixed_diagonal import RowFactors
from unipd.methods.factored.fixed_diagonal import find_groups
from unipd.methods.factored.fixed_diagonal import fixed_diagonal_factors
from unipd.methods.factored.fixed_diagonal import newton_steps
from unipd.methods.factored.factored import ORACLE_EVERY
from unipd.methods.factored.augmented_lagrangian import remove_radial_part
from unipd.methods.factored.fixed_diagonal import project_groups
from unipd.methods.factored.fixed_diagonal import project_rows
from unipd.methods.factored.fixed_diagonal import take_step
from unipd.methods.factored.fixed_diagonal import update_direction
