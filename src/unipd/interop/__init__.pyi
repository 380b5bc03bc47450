from unipd.interop import cvxpy_models as cvxpy_models
from unipd.interop import qiskit as qiskit
from unipd.interop.cvxpy_models import reference
from unipd.interop.cvxpy_models import to_cvxpy
