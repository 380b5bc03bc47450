"""Trackers: what is kept of the primal average."""
