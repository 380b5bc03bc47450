"""``python -m unipd``: the same as the command ``unipd``."""

from unipd.cli.main import main

if __name__ == "__main__":
    main()
