"""`python -m discoprobe`."""

from discoprobe.cli import main

if __name__ == "__main__":
    main()
