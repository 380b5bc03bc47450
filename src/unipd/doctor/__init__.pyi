from unipd.doctor.installation import check_installation as check_installation
from unipd.doctor.installation import compile_kernels as compile_kernels
from unipd.doctor.problem import check_coupling as check_coupling
from unipd.doctor.problem import check_map as check_map
from unipd.doctor.problem import check_sharp as check_sharp
from unipd.doctor.problem import check as check
from unipd.doctor.problem import check_memory as check_memory
from unipd.doctor.problem import check_scaling as check_scaling
from unipd.doctor.report import Check as Check
from unipd.doctor.report import Report as Report
from unipd.doctor.report import random_like
from unipd.doctor.report import rearrange
from unipd.doctor.installation import JOBS
from unipd.doctor.installation import run_job
