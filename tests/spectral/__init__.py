"""Tests of the spectral engine against LAPACK and SciPy."""
