"""Write docs/reference from the code, without building the documentation: ``python docs/generate.py``."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from hermes_reference import write_pages  # noqa: E402 - the path comes first

if __name__ == "__main__":
    write_pages(HERE / "reference")
