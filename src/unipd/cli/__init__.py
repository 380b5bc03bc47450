"""The command ``unipd``; its packages (the extra ``cli``) are imported by :func:`unipd.cli.main.main`."""
