from unipd.methods.coordinate.coordinate import CoordinateDescent as CoordinateDescent
from unipd.methods.coordinate.coordinate import CoordinateState as CoordinateState
from unipd.methods.coordinate.coordinate import has_coordinates as has_coordinates
from unipd.methods.coordinate.restricted import Restricted as Restricted
from unipd.methods.coordinate.restricted import minimize_restricted as minimize_restricted
