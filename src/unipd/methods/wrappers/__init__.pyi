from unipd.methods.wrappers.base import Wrapper as Wrapper
from unipd.methods.wrappers.base import WrapperState as WrapperState
from unipd.methods.wrappers.fallback import Fallback as Fallback
from unipd.methods.wrappers.rescaling import Rescaling as Rescaling
from unipd.methods.wrappers.restarts import Restarts as Restarts
from unipd.methods.wrappers.rescaling import equilibrate
from unipd.methods.wrappers.fallback import PATIENCE
