"""What runs inside is compiled before it runs there, as nobody inside could."""

import sys
from importlib.util import cache_from_source
from pathlib import Path

from hermes_backend_wall import compiled as module


def test_what_is_not_compiled_is_once_and_what_cannot_be_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "__file__", str(tmp_path / "compiled.py"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    one = tmp_path / "inside" / "one.py"
    one.parent.mkdir()
    one.write_text("answer = 42\n")
    module.compiled.__wrapped__()
    made = Path(cache_from_source(str(one)))
    held = made.read_bytes()
    made.parent.chmod(0o500)
    module.compiled.__wrapped__()
    assert made.read_bytes() == held
