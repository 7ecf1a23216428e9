"""The tool contract, kept by execute_code."""

from typing import ClassVar

import pytest

from hermes_backend_local.workspace import Here
from hermes_core.testing import ToolContract


class TestExecuteCode(ToolContract):
    module = "hermes_tool_python"
    arguments: ClassVar = {"code": "print(sum(range(10)))"}
    failing_arguments: ClassVar = {"code": "def f(n): return f(n + 1)\nf(0)"}
    greedy_arguments: ClassVar = {"code": "print('x' * 30_000_000)"}

    @pytest.fixture
    def workspace(self, tmp_path):
        folder = tmp_path / "work"
        folder.mkdir()
        return Here(str(folder))


class TestExecuteCodeInTheWholePython(TestExecuteCode):
    arguments: ClassVar = {"code": "import os\nos.getpid() > 1"}
    greedy_arguments: ClassVar = {"code": "import os\nprint('x' * 30_000_000)"}
