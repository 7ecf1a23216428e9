"""What runs inside is compiled before: no process there can write, so each would compile it anew as it starts.

Installers leave that out (uv does), and nothing on this side of the wall imports those modules.
"""

from functools import lru_cache
from importlib.machinery import SourceFileLoader
from pathlib import Path

__all__ = ["compiled"]


@lru_cache(maxsize=1)
def compiled() -> None:
    """Compile what is not, beside its source, once in this process; where nobody may write there, it stays as it is."""
    for path in sorted((Path(__file__).parent / "inside").glob("*.py")):
        SourceFileLoader(path.stem, str(path)).get_code(path.stem)  # reads what is compiled and no older, else makes it
