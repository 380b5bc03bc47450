from unipd.io.cbf import CbfProblem as CbfProblem
from unipd.io.cbf import read_cbf as read_cbf
from unipd.io.cbf import write_cbf as write_cbf
from unipd.io.graphs import Graph as Graph
from unipd.io.graphs import as_graph as as_graph
from unipd.io.graphs import read_graph as read_graph
from unipd.io.reading import Limits as Limits
from unipd.io.pauli import PauliData as PauliData
from unipd.io.pauli import read_pauli_data as read_pauli_data
from unipd.io.pauli import write_pauli_data as write_pauli_data
from unipd.io.pauli import ProcessExpectations as ProcessExpectations
from unipd.io.pauli import read_process_data as read_process_data
from unipd.io.pauli import write_process_counts as write_process_counts
from unipd.io.ratings import Ratings as Ratings
from unipd.io.ratings import read_ratings as read_ratings
from unipd.io.ratings import read_titles as read_titles
from unipd.io.results import load as load
from unipd.io.results import save as save
from unipd.io.sdpa import SdpaProblem as SdpaProblem
from unipd.io.sdpa import read_sdpa as read_sdpa
from unipd.io.sdpa import write_sdpa as write_sdpa
from unipd.io.sedumi import SedumiProblem as SedumiProblem
from unipd.io.sedumi import read_sedumi as read_sedumi
from unipd.io.sedumi import write_sedumi as write_sedumi
from unipd.io.sdpa import Solution as Solution
from unipd.io.sdpa import read_solution as read_solution
from unipd.io.ratings import as_names
from unipd.io.ratings import check_columns
from unipd.io.results import FORMAT
from unipd.io.reading import LOOSE
from unipd.io.reading import TableLayout
from unipd.io.reading import read_table
from unipd.io.reading import read_table_by_line
