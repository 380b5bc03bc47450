from unipd.maps.pauli.map import DenseOperator as DenseOperator
from unipd.maps.pauli.map import HermitianOperator as HermitianOperator
from unipd.maps.pauli.map import PauliMap as PauliMap
from unipd.maps.pauli.outcomes import PAULI_MATRICES as PAULI_MATRICES
from unipd.maps.pauli.outcomes import Confusion as Confusion
from unipd.maps.pauli.outcomes import Measurement as Measurement
from unipd.maps.pauli.outcomes import OutcomeMap as OutcomeMap
from unipd.maps.pauli.outcomes import apply_local as apply_local
from unipd.maps.pauli.outcomes import find_measurement as find_measurement
from unipd.maps.pauli.outcomes import measure_basis as measure_basis
from unipd.maps.pauli.outcomes import pauli6_povm as pauli6_povm
from unipd.maps.pauli.outcomes import pauli_coefficients as pauli_coefficients
from unipd.maps.pauli.outcomes import sic_povm as sic_povm
from unipd.maps.pauli.outcomes import walsh_hadamard as walsh_hadamard
from unipd.maps.pauli.strings import bit_count as bit_count
from unipd.maps.pauli.strings import random_paulis as random_paulis
from unipd.maps.pauli.layout import longest_light
from unipd.maps.pauli.map import PauliOperator
from unipd.maps.pauli.strings import default_count
from unipd.maps.pauli.strings import masks
from unipd.maps.pauli.strings import parse
from unipd.maps.pauli.strings import phases
from unipd.maps.pauli.strings import write
from unipd.maps.pauli.dense import MULTI_VECTOR_COLUMNS
from unipd.maps.pauli.dense import PauliBlocks
from unipd.maps.pauli.map import kernel_threads
from unipd.maps.pauli.strings import most_repeats
