"""`python -m poinsot`: the same as the command `poinsot`."""

from poinsot.cli import main

if __name__ == "__main__":
    main()
