"""Shared by several test modules: small oracles, problems with known optima, references by other solvers."""
