"""`python -m hindsight_core.cli` is the command `hindsight`."""

import sys

from hindsight_core.cli import main

sys.exit(main())
