"""Row equilibration: the same problem in better units, undone in everything that is reported."""

from unipd.scaling.equilibrate import Scaling, equilibrated
from unipd.scaling.row_norms import row_norms
from unipd.scaling.scaled_map import RowScaled

__all__ = ["RowScaled", "Scaling", "equilibrated", "row_norms"]
