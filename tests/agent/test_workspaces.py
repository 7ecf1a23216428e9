"""What holds from the moment on that a conversation has a place for commands."""

import ctypes
import sys
from typing import Any

import pytest

from hermes_core.environment import hide_memory
from hermes_core.testing import Call
from hermes_core.types import Returned

GET_DUMPABLE, SET_DUMPABLE = 3, 4


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")
async def test_the_memory_of_hermes_is_closed_before_a_command_runs_also_where_no_wall_is(
    hermes: Any, scripted: Any
) -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(SET_DUMPABLE, 1, 0, 0, 0)
    hide_memory.cache_clear()
    for plugin in ("hermes_tool_terminal", "hermes_backend_local"):
        hermes.tmp_plugin(plugin)
    hermes.tmp_plugin(scripted(Call("terminal", {"command": "true"}), "Done."))
    hermes.configure({"terminal.backend": "local", "backends.local.wall": "none", "policy.mode": "off"})
    assert libc.prctl(GET_DUMPABLE, 0, 0, 0, 0) == 1
    [result] = [event.result async for event in hermes.turn("Go.") if isinstance(event, Returned)]
    assert not result.failed
    assert libc.prctl(GET_DUMPABLE, 0, 0, 0, 0) == 0
