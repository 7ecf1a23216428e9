"""What a plugin logs stands in the log file: only what is below ``hermes`` goes there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = re.compile(r"""logging\.getLogger\((?!f?["'])""")


def test_no_logger_of_a_plugin_is_one_that_nobody_hears() -> None:
    lost = [p.name for p in ROOT.glob("plugins/*/src/**/*.py") if OURS.search(p.read_text(encoding="utf-8"))]
    assert lost == ["api.py"]  # of telegram: it silences a library's
