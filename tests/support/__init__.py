"""What several test modules share: small oracles, problems with known optima, references by other solvers."""
