"""The command ``unipd``; its packages (the extra ``cli``) are imported by :func:`unipd.cli.main.main`.

Read main and app (from the shell to a command), options (shared by the commands), commands/, runtime and
output (a command in progress with its exit codes, and what it prints and writes), mpi (the same commands
on several ranks).
"""
