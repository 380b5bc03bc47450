"""Top eigenpairs and singular triples of operators known by their products."""
