from unipd.dual.function import DualPoint as DualPoint
from unipd.dual.function import DualSpace as DualSpace
from unipd.dual.function import DualValue as DualValue
from unipd.dual.function import LowerBound as LowerBound
from unipd.dual.function import call_oracle as call_oracle
from unipd.dual.function import call_oracle_along as call_oracle_along
from unipd.dual.function import double_direction as double_direction
from unipd.dual.function import dual_point as dual_point
from unipd.dual.function import dual_space as dual_space
from unipd.dual.function import dual_value as dual_value
from unipd.dual.function import evaluate as evaluate
from unipd.dual.function import image_of as image_of
from unipd.dual.function import lower_bound as lower_bound
from unipd.dual.function import oracle_errors as oracle_errors
from unipd.dual.function import proximal_step as proximal_step
from unipd.dual.long_vectors import workspace_scope as workspace_scope
from unipd.dual.function import is_chunked as is_chunked
from unipd.dual.long_vectors import ChunkedSpace
from unipd.dual.long_vectors import FusedSpace
from unipd.dual.long_vectors import Workspace
from unipd.dual.long_vectors import workspace_like
