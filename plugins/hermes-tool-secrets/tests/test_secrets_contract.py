"""Each source keeps the contract of sources, with programs that answer as their documentation says."""

from typing import ClassVar

import pytest

from hermes_core.testing import SecretSourceContract

KEY = "kq7Zp2Xw9Rt4Lm6Vb1Nc"


class _Source(SecretSourceContract):
    module = "hermes_tool_secrets"
    secrets: ClassVar = {"OP_SERVICE_ACCOUNT_TOKEN": "ops_x", "BWS_ACCESS_TOKEN": "0.x"}
    value = KEY

    @pytest.fixture
    def source(self, contributed):
        return next(one for one in contributed["secret_sources"] if one.name == self.name)


@pytest.mark.usefixtures("op")
class TestOnePassword(_Source):
    name = "op"
    reference = "//Private/OpenAI/credential"
    absent = "//Private/Nothing/credential"


@pytest.mark.usefixtures("bws")
class TestBitwarden(_Source):
    name = "bws"
    reference = "4ea8c1f0-0000-4000-8000-b3c900000001"
    absent = "4ea8c1f0-0000-4000-8000-b3c900000009"
    everything: ClassVar = {"OPENAI_API_KEY": KEY, "LD_PRELOAD": "/tmp/x.so"}


class TestOwnProgram(_Source):
    name = "command"
    settings: ClassVar = {
        "commands": {"one": ["/bin/echo", KEY]},
        "bulk_command": ["/bin/echo", '{"OPENAI_API_KEY": "x"}'],
    }
    reference = "one"
    everything: ClassVar = {"OPENAI_API_KEY": "x"}
