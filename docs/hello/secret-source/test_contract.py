"""The box keeps the contract of sources."""

from typing import ClassVar

import pytest

from hermes_core.testing import SecretSourceContract


@pytest.fixture(autouse=True)
def box(tmp_path, monkeypatch):
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "acme_api_key").write_text("a-key-of-acme\n")
    monkeypatch.setenv("BOX", str(tmp_path / "box"))


class TestBox(SecretSourceContract):
    module = "hermes_tool_box"
    reference = "acme_api_key"
    value = "a-key-of-acme"
    absent = "nothing"
    everything: ClassVar = {"ACME_API_KEY": "a-key-of-acme"}
