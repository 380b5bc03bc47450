"""The programs are for mpirun; importing them here would start MPI in the tests' own process."""

collect_ignore_glob = ["programs/*"]
