"""The contract of routes passes what is sound, and catches what is not."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SOUND = (Path(__file__).parents[2] / "docs" / "examples" / "guestbook.py").read_text()
TEST = """
import pytest
from hermes_core.testing import RoutesContract

class TestRead(RoutesContract):
    module = "guestbook"

    @pytest.fixture
    def route(self, contributed):
        return contributed["routes"][1]
"""
BODY = '        names = await ctx.documents.get("names")\n'
OPTIONS = ("-pno:cacheprovider", "-pno:syrupy", "-pno:xdist", "-oasyncio_mode=auto", "-opythonpath=.", "-Wignore", "-q")


@pytest.mark.parametrize(
    ("broken", "caught"),
    [
        ("", ""),
        ("        return\n", "test_what_is_asked_is_answered"),
        ('        return await answer(send, 404, "Gone.")\n', "test_what_is_asked_is_answered"),
        ('        scope["path"].removeprefix(scope["root_path"]) == "/" or 1 / 0\n', "test_what_is_not_there_is_told"),
        (
            "        import asyncio\n        LEFT.append(asyncio.create_task(asyncio.sleep(60)))\n",
            "test_a_client_that_leaves_leaves_nothing_behind",
        ),
    ],
)
@pytest.mark.few(1)
def test_what_is_broken_is_caught(pytester, broken, caught):
    text = SOUND.replace(BODY, broken + BODY)
    text = text.replace("from hermes_core import hookimpl", "LEFT = []\nfrom hermes_core import hookimpl", 1)
    pytester.path.joinpath("guestbook.py").write_text(text)
    pytester.makepyfile(TEST)
    result = pytester.runpytest_subprocess(*OPTIONS, "-k", "asked or there or leaves_leaves or public")
    if caught:
        assert f"::{caught}" in result.stdout.str()
        assert result.ret == 1
    else:
        result.assert_outcomes(passed=4, deselected=result.parseoutcomes().get("deselected", 0))
