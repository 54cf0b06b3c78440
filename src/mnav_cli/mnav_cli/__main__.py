"""`python -m mnav_cli`: parse the command line, run one command, turn its outcome into an exit code."""

from __future__ import annotations

import sys

from mnav_cli.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
