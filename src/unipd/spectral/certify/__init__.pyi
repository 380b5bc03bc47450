from unipd.spectral.certify.probabilistic import Certification as Certification
from unipd.spectral.certify.probabilistic import Certified as Certified
from unipd.spectral.certify.probabilistic import certified_upper as certified_upper
from unipd.spectral.certify.rigorous import norm_bound as norm_bound
from unipd.spectral.certify.vectors import certify_eigenvalues as certify_eigenvalues
from unipd.spectral.certify.vectors import certify_singular_value as certify_singular_value
from unipd.spectral.certify.probabilistic import bracket_of_run
from unipd.spectral.certify.probabilistic import weight_quantile
from unipd.spectral.certify.rigorous import affords_rigorous
