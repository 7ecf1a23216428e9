"""The examples import each other by name, as where a reader puts them; pytest's import mode here adds no folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore = ["dice"]  # a package, which is tested where a page installs it
