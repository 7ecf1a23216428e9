"""The tool contract, kept by each of the file tools."""

from typing import Any, ClassVar

import pytest

from hermes_core.testing import FakeWorkspace, ToolContract


class _Files(ToolContract):
    module = "hermes_tool_files"
    which: ClassVar[str] = ""

    @pytest.fixture
    def tool(self, contributed: dict[str, list[Any]]) -> Any:
        return next(tool for tool in contributed["tools"] if tool.name == self.which)

    @pytest.fixture
    def workspace(self, tmp_path):
        folder = tmp_path / "work"
        folder.mkdir()
        (folder / "a.txt").write_text("one\ntwo\n")
        (folder / "big.txt").write_text(f"word {'x' * 94}\n" * 50_000)
        return FakeWorkspace(folder=folder)


class TestReadFile(_Files):
    which = "read_file"
    arguments: ClassVar = {"path": "a.txt"}
    failing_arguments: ClassVar = {"path": "gone.txt"}
    greedy_arguments: ClassVar = {"path": "big.txt", "limit": 2000}


class TestWriteFile(_Files):
    which = "write_file"
    arguments: ClassVar = {"path": "new/b.txt", "content": "x"}
    failing_arguments: ClassVar = {"path": "/dev/null", "content": "x"}


class TestEditFile(_Files):
    which = "edit_file"
    arguments: ClassVar = {"path": "a.txt", "old": "two", "new": "two two", "replace_all": True}
    failing_arguments: ClassVar = {"path": "a.txt", "old": "four", "new": "five"}
    greedy_arguments: ClassVar = {"path": "big.txt", "old": "word", "new": "words", "replace_all": True}


class TestSearchFiles(_Files):
    which = "search_files"
    arguments: ClassVar = {"pattern": "two"}
    failing_arguments: ClassVar = {"pattern": "("}
    greedy_arguments: ClassVar = {"pattern": "word", "limit": 500}


class TestListFiles(_Files):
    which = "list_files"
    arguments: ClassVar = {}
    failing_arguments: ClassVar = {"path": "gone"}


class TestApplyPatch(_Files):
    which = "apply_patch"
    arguments: ClassVar = {"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n+three\n*** End Patch"}
    failing_arguments: ClassVar = {"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-six\n+two\n*** End Patch"}


class TestEditNotebook(_Files):
    which = "edit_notebook"
    arguments: ClassVar = {"path": "a.ipynb", "cell": "1", "source": "x"}
    failing_arguments: ClassVar = {"path": "a.ipynb", "cell": "9", "source": "x"}

    @pytest.fixture
    def workspace(self, tmp_path):
        cells = '{"cells": [{"cell_type": "code", "source": "", "outputs": []}], "nbformat": 4, "nbformat_minor": 5}'
        (tmp_path / "a.ipynb").write_text(cells)
        return FakeWorkspace(folder=tmp_path)
