"""`python -m sentence_gate` is the command `sentence-gate`."""

import sys

from .cli import main

sys.exit(main())
