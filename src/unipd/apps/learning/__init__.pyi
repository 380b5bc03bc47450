from unipd.apps.learning.clustering import communities as communities
from unipd.apps.learning.clustering import kmeans as kmeans
from unipd.apps.learning.clustering import solve_partition as solve_partition
from unipd.apps.learning.imputer import LowRankImputer as LowRankImputer
from unipd.apps.learning.regression import NormConstrainedRegressor as NormConstrainedRegressor
from unipd.apps.learning.regression import NormConstrainedRegressorCV as NormConstrainedRegressorCV
from unipd.apps.learning.regression import basis_pursuit as basis_pursuit
from unipd.apps.learning.submodular import CutFunction as CutFunction
from unipd.apps.learning.svm import SupportVectorClassifier as SupportVectorClassifier
from unipd.apps.learning.submodular import minimise
