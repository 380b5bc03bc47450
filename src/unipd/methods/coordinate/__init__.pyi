from unipd.methods.coordinate.coordinate import CoordinateDescent as CoordinateDescent
from unipd.methods.coordinate.coordinate import has_coordinates as has_coordinates
from unipd.methods.coordinate.coordinate import CoordinateState
from unipd.methods.coordinate.restricted import Restricted
from unipd.methods.coordinate.kernels import shrink
