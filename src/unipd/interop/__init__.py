"""Bridges to other packages, which are imported only when a bridge is used."""
