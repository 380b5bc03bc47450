from unipd.methods.universal.accunipdgrad import AccUniPDGrad as AccUniPDGrad
from unipd.methods.universal.common import WEIGHTS as WEIGHTS
from unipd.methods.universal.common import UniversalMethod as UniversalMethod
from unipd.methods.universal.quasi_newton import QuasiNewton as QuasiNewton
from unipd.methods.universal.quasi_newton import has_sign_cone as has_sign_cone
from unipd.methods.universal.unipdgrad import UniPDGrad as UniPDGrad
from unipd.methods.universal.accunipdgrad import AccUniPDGradState
from unipd.methods.universal.accunipdgrad import next_t
from unipd.methods.universal.common import analytic_smoothness
from unipd.methods.universal.common import greedy_gamma
from unipd.methods.universal.common import has_analytic_step
from unipd.methods.universal.quasi_newton import QuasiNewtonState
from unipd.methods.universal.unipdgrad import UniPDGradState
