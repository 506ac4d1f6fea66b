"""Run the command line for `python -m ordhc`."""

from ordhc.cli import main

if __name__ == "__main__":
    main()
