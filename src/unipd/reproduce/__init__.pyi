from unipd.reproduce.completion_data import SyntheticRatings as SyntheticRatings
from unipd.reproduce.completion_data import generate_ratings as generate_ratings
from unipd.reproduce.figure1 import figure1_experiment as figure1_experiment
from unipd.reproduce.figure1 import plot_figure1 as plot_figure1
from unipd.reproduce.figure1 import run_figure1 as run_figure1
from unipd.reproduce.figure1 import write_figure1 as write_figure1
from unipd.reproduce.figure2 import plot_figure2 as plot_figure2
from unipd.reproduce.figure2 import run_figure2 as run_figure2
from unipd.reproduce.figure2 import write_figure2 as write_figure2
from unipd.reproduce.figure1 import COLUMNS
from unipd.reproduce.figure1 import DEFAULT
from unipd.reproduce.figure1 import METHODS
from unipd.reproduce.figure1 import ORACLE_ACCURACY
from unipd.reproduce.figure1 import summarize_trace
