from unipd.run.checkpoint import Checkpoint as Checkpoint
from unipd.run.checkpoint import CheckpointWarning as CheckpointWarning
from unipd.run.comparison import Comparison as Comparison
from unipd.run.comparison import compare as compare
from unipd.run.history import COLUMNS as COLUMNS
from unipd.run.history import History as History
from unipd.run.history import IterationInfo as IterationInfo
from unipd.run.loop import iterate as iterate
from unipd.run.loop import solve as solve
from unipd.run.polishing import polish as polish
from unipd.run.result import Result as Result
from unipd.run.stopping import Accuracy as Accuracy
from unipd.run.stopping import MaxCpuSeconds as MaxCpuSeconds
from unipd.run.stopping import MaxIterations as MaxIterations
from unipd.run.stopping import MaxOracleCalls as MaxOracleCalls
from unipd.run.stopping import MaxSeconds as MaxSeconds
from unipd.run.stopping import Stall as Stall
from unipd.run.stopping import StoppingRule as StoppingRule
from unipd.run.stopping import When as When
from unipd.run.termination import downgrade as downgrade
from unipd.run.termination import recheck as recheck
from unipd.run.comparison import Truth
from unipd.run.comparison import common_scale
from unipd.run.comparison import comparison_rows
from unipd.run.history import Incumbent
from unipd.run.infeasibility import is_separating
from unipd.run.infeasibility import nearest_ray
from unipd._util.context import request
from unipd._util.context import stop_on_signals
from unipd.run.loop import Run
from unipd.run.polishing import merge_light_atoms
from unipd.run.progress import Heartbeat
from unipd.run.progress import remaining_seconds
from unipd.run.progress import watch_runs
from unipd.run.progress import write_progress_to
from unipd.run.result import ProblemFacts
from unipd.run.result import problem_facts
from unipd.run.result import summary_rows
from unipd.run.result import tracker_error
from unipd.run.stopping import RemainingBudget
from unipd.run.termination import Termination
