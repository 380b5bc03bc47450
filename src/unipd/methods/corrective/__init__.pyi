from unipd.methods.corrective.corrective import Corrective as Corrective
from unipd.methods.corrective.corrective import MemoryBound as MemoryBound
from unipd.methods.corrective.dual_master import project_simplex as project_simplex
from unipd.methods.corrective.corrective import CorrectiveState
from unipd.methods.corrective.corrective import price_vertices
from unipd.methods.corrective.dual_master import DualMaster
from unipd.methods.corrective.dual_master import block_averages
from unipd.methods.corrective.dual_master import minimize_dual
from unipd.methods.corrective.dual_master import project_simplices
from unipd.methods.corrective.linear_master import LinearModel
from unipd.methods.corrective.master import minimize_quadratic
from unipd.methods.corrective.model import Bundle
from unipd.methods.corrective.model import Columns
from unipd.methods.corrective.model import as_complex
from unipd.methods.corrective.model import as_real
from unipd.methods.corrective.model import has_blocks
