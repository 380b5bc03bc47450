from unipd.apps.process_tomography.estimator import ChannelBootstrap as ChannelBootstrap
from unipd.apps.process_tomography.channel import GATES as GATES
from unipd.apps.process_tomography.channel import QuantumChannel as QuantumChannel
from unipd.apps.process_tomography.channel import as_channel as as_channel
from unipd.apps.process_tomography.data import ProcessData as ProcessData
from unipd.apps.process_tomography.data import all_preparations as all_preparations
from unipd.apps.process_tomography.data import ancilla_data as ancilla_data
from unipd.apps.process_tomography.data import counts_data as counts_data
from unipd.apps.process_tomography.data import expectation_data as expectation_data
from unipd.apps.process_tomography.data import prepared_state as prepared_state
from unipd.apps.process_tomography.estimator import KrausDescent as KrausDescent
from unipd.apps.process_tomography.channel import DiamondDistance as DiamondDistance
from unipd.apps.process_tomography.channel import diamond_distance as diamond_distance
from unipd.apps.process_tomography.estimator import ProcessTomography as ProcessTomography
from unipd.apps.process_tomography.estimator import UndeterminedChannel as UndeterminedChannel
from unipd.apps.process_tomography.estimator import process_problem as process_problem
from unipd.apps.process_tomography.channel import CHANNELS as CHANNELS
from unipd.apps.process_tomography.channel import make_channel as make_channel
from unipd.apps.process_tomography.channel import noisy_channel as noisy_channel
from unipd.apps.process_tomography.channel import random_channel as random_channel
from unipd.apps.process_tomography.channel import random_unitary as random_unitary
from unipd.apps.process_tomography.data import simulate_process as simulate_process
from unipd.apps.process_tomography.estimator import KrausFactors
from unipd.apps.process_tomography.channel import dual_program
from unipd.apps.process_tomography.channel import iterate_states
from unipd.apps.process_tomography.data import basis_effects
