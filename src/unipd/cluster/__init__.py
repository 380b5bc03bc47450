"""The same solve on several processes, by MPI."""
