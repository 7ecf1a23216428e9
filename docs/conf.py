"""How the documentation is built. The reference is written from the code first, so it cannot lag behind."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from hermes_core import __version__  # noqa: E402 - found through the environment, after the path is set

project = "Hermes"
author = "The Hermes founders"
copyright = author  # noqa: A001 - Sphinx calls it so
version = release = __version__

extensions = ["myst_parser", "hermes_reference"]
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_ext", "hello/**", "examples/**"]
suppress_warnings = ["misc.highlighting_failure"]  # a `console` transcript may hold anything a program prints

html_theme = "furo"
html_title = f"Hermes {__version__}"
html_static_path = ["_static"]
html_show_copyright = False
