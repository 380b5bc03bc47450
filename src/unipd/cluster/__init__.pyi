from unipd.cluster.communicator import Disagreement as Disagreement
from unipd.cluster.communicator import Ranks as Ranks
from unipd.cluster.communicator import SingleProcess as SingleProcess
from unipd.cluster.communicator import assign_evenly as assign_evenly
from unipd.cluster.communicator import contiguous_bounds as contiguous_bounds
from unipd.cluster.communicator import file_fingerprint as file_fingerprint
from unipd.cluster.communicator import require_same as require_same
from unipd.cluster.environment import limit_threads as limit_threads
from unipd.cluster.environment import processes as processes
from unipd.cluster.environment import threads_for as threads_for
from unipd.cluster.maps import DistributedRows as DistributedRows
from unipd.cluster.maps import SummedOperator as SummedOperator
from unipd.cluster.maps import partition_strings as partition_strings
from unipd.cluster.maps import distribute as distribute
from unipd.cluster.maps import distribute_problem as distribute_problem
from unipd.cluster.maps import idle_ranks as idle_ranks
from unipd.cluster.solve import read_shard as read_shard
from unipd.cluster.solve import run as run
from unipd.cluster.solve import session as session
from unipd.cluster.communicator import STALL_SECONDS
from unipd.cluster.communicator import shares
from unipd.cluster.communicator import FILE_BLOCKS
from unipd.cluster.communicator import FILE_BLOCK_BYTES
from unipd.cluster.communicator import digest
from unipd.cluster.environment import SIZES
