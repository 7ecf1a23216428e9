"""The contract, and a database that lasts from call to call."""

import scratch

from hermes_core.testing import Call, ToolContract
from hermes_core.types import Returned


class TestScratch(ToolContract):
    module = "scratch"
    arguments = {"statement": "select 6 * 7"}
    failing_arguments = {"statement": "select nothing"}


async def test_what_one_call_puts_in_the_next_one_finds(hermes, scripted):
    put = Call("sql", {"statement": "create table seen (what)"})
    look = Call("sql", {"statement": "select name from sqlite_master"})
    hermes.tmp_plugin(scripted([put], [look], "There it is."))
    hermes.tmp_plugin(scratch.__name__)
    results = [event.result async for event in hermes.turn("Keep it.") if isinstance(event, Returned)]
    assert [result.parts[0].text for result in results] == ["Done.", "('seen',)"]
