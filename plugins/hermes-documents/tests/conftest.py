"""Makes `made` importable; pytest does not do it in this import mode."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
