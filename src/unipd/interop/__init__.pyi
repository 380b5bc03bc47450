from unipd.interop import cvxpy_models as cvxpy_models
from unipd.interop import qiskit as qiskit
