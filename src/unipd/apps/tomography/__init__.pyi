from unipd.apps.tomography.confidence import StateRange as StateRange
from unipd.apps.tomography.confidence import residual_noise as residual_noise
from unipd.apps.tomography.confidence import state_range as state_range
from unipd.apps.tomography.counts import BasisCounts as BasisCounts
from unipd.apps.tomography.counts import as_confusion as as_confusion
from unipd.apps.tomography.counts import as_counts as as_counts
from unipd.apps.tomography.counts import estimate_paulis as estimate_paulis
from unipd.apps.tomography.error_bars import Bootstrap as Bootstrap
from unipd.apps.tomography.error_bars import bootstrap as bootstrap
from unipd.apps.tomography.error_bars import report_data as report_data
from unipd.apps.tomography.estimator import PauliTomography as PauliTomography
from unipd.apps.tomography.fit import depolarize as depolarize
from unipd.apps.tomography.measurements import DoubtfulMeasurements as DoubtfulMeasurements
from unipd.apps.tomography.measurements import MeasurementWarning as MeasurementWarning
from unipd.apps.tomography.measurements import Paulis as Paulis
from unipd.apps.tomography.measurements import QuasiCounts as QuasiCounts
from unipd.apps.tomography.measurements import TooFewMeasurements as TooFewMeasurements
from unipd.apps.tomography.measurements import UndeterminedState as UndeterminedState
from unipd.apps.tomography.measurements import as_pauli_sum as as_pauli_sum
from unipd.apps.tomography.measurements import as_paulis as as_paulis
from unipd.apps.tomography.measurements import choose_paulis as choose_paulis
from unipd.apps.tomography.measurements import measurement_count as measurement_count
from unipd.apps.tomography.measurements import pauli_map as pauli_map
from unipd.apps.tomography.measurements import shot_variance as shot_variance
from unipd.apps.tomography.measurements import standard_errors as standard_errors
from unipd.apps.tomography.model import Fit as Fit
from unipd.apps.tomography.model import PAPER_EPS as PAPER_EPS
from unipd.apps.tomography.model import likelihood_problem as likelihood_problem
from unipd.apps.tomography.model import outcome_problem as outcome_problem
from unipd.apps.tomography.model import pearson_chi_square as pearson_chi_square
from unipd.apps.tomography.model import tomography_problem as tomography_problem
from unipd.apps.tomography.shadows import Shadow as Shadow
from unipd.apps.tomography.shadows import ShadowEstimate as ShadowEstimate
from unipd.apps.tomography.shadows import UnevenBases as UnevenBases
from unipd.apps.tomography.simulation import Noise as Noise
from unipd.apps.tomography.simulation import STATES as STATES
from unipd.apps.tomography.simulation import Simulation as Simulation
from unipd.apps.tomography.simulation import all_bases as all_bases
from unipd.apps.tomography.simulation import ghz as ghz
from unipd.apps.tomography.simulation import make_state as make_state
from unipd.apps.tomography.simulation import outcome_probabilities as outcome_probabilities
from unipd.apps.tomography.simulation import product as product
from unipd.apps.tomography.simulation import random_bases as random_bases
from unipd.apps.tomography.simulation import random_mixed as random_mixed
from unipd.apps.tomography.simulation import random_pure as random_pure
from unipd.apps.tomography.simulation import simulate as simulate
from unipd.apps.tomography.simulation import simulate_counts as simulate_counts
from unipd.apps.tomography.simulation import w_state as w_state
from unipd.apps.tomography.state import QuantumState as QuantumState
from unipd.apps.tomography.state import as_state as as_state
from unipd.maps.pauli import pauli6_povm as pauli6_povm
from unipd.maps.pauli import sic_povm as sic_povm
from unipd.apps.tomography.error_bars import RESAMPLING
from unipd.apps.tomography.error_bars import interval_of
from unipd.apps.tomography.confidence import as_observable
from unipd.apps.tomography.confidence import calibrate_excess
from unipd.apps.tomography.confidence import confidence_region
from unipd.apps.tomography.confidence import is_identified
from unipd.apps.tomography.confidence import smallest_value
from unipd.apps.tomography.counts import all_signed_sums
from unipd.apps.tomography.counts import histogram_of
from unipd.apps.tomography.counts import pool_estimates
from unipd.apps.tomography.counts import supports_by_weight
from unipd.apps.tomography.estimator import SOLVER_OPTIONS
from unipd.apps.tomography.fit import fit_counts
from unipd.apps.tomography.model import FitSettings
from unipd.apps.tomography.model import noise_level_of
from unipd.apps.tomography.projected import Projected
from unipd.apps.tomography.projected import bound_by_lanczos
from unipd.apps.tomography.projected import is_large_operator
from unipd.apps.tomography.fixed_rank import call_dense_oracle
from unipd.apps.tomography.simulation import sample_bases
from unipd.apps.tomography.fit import largest_step
from unipd.apps.tomography.model import is_noisy
from unipd.apps.tomography.counts import Histogram
from unipd.apps.tomography.model import LEAST_COUNT
from unipd.apps.tomography.model import multinomial_variance
from unipd.apps.tomography.projected import Projection
from unipd.apps.tomography.projected import compress_points
from unipd.apps.tomography.projected import orthonormalize_against
from unipd.apps.tomography.fixed_rank import FixedRank
from unipd.apps.tomography.measurements import parameter_count
from unipd.apps.tomography.error_bars import read_replicates
from unipd.apps.tomography.error_bars import replicates_file
from unipd.apps.tomography.shadows import read_terms
from unipd.apps.tomography.measurements import identifying_count
from unipd.apps.tomography.projected import ProjectedState
