"""The tools of a small home: what they tell, what they do, and what needs a person."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_core.errors import ToolError
from hermes_core.types import Session
from hermes_core.types.people import Principal
from hermes_tool_homeassistant.config import Config
from hermes_tool_homeassistant.judging import guarded_by

from .home_bench import YES
from .small_home import small_home


async def test_entities_are_listed_and_found_by_domain_area_and_name(bench):
    assert (await bench.call("list_entities")).splitlines() == [
        "light.desk | off | Desk lamp | Küche",
        "lock.front | locked | Front door",
        "sensor.warmth | 20 °C | Warmth",
    ]
    assert (await bench.call("list_entities", area="küche")) == "light.desk | off | Desk lamp | Küche"
    assert (await bench.call("list_entities", domain="lock")).startswith("lock.front")
    assert (await bench.call("list_entities", search="WARM")).startswith("sensor.warmth")
    assert await bench.call("list_entities", area="attic") == "No entity fits. Areas: Küche."
    assert await bench.call("list_areas") == "Küche (kitchen)"


async def test_a_large_home_is_cut_and_says_so(bench, small):
    for number in range(500):
        small.put(f"sensor.n{number}", "1")
    listed = await bench.call("list_entities", domain="sensor")
    assert listed.endswith("301 more: ask for a domain, an area or a search.")


async def test_one_state_is_told_with_its_attributes_in_one_line_each(bench, small):
    small.put("sensor.warmth", "21", note="a\nb\x1b[31m", access_token="secret")
    told = await bench.call("get_state", entity_id="sensor.warmth")
    assert "sensor.warmth: 21 °C" in told
    assert "note: a b [31m" in told
    assert "secret" not in told
    assert "Did you mean light.desk?" in await bench.fails("get_state", entity_id="light.dask")


async def test_a_history_tells_changes_only(bench):
    assert await bench.call("history", entity_id="light.desk") == ("2026-01-01 00:00:00  off\n2026-01-01 00:01:00  on")
    assert "Nothing is known" in await bench.call("history", entity_id="lock.front")


async def test_services_are_listed(bench):
    assert "light: turn_off, turn_on" in await bench.call("list_services")
    told = await bench.call("list_services", domain="light")
    assert "light.turn_on: Turn on." in told
    assert "brightness: 0 to 255, such as 120" in told
    assert "Did you mean light?" in await bench.fails("list_services", domain="ligt")


async def test_a_service_is_called_and_what_became_of_it_is_told(bench, small):
    told = await bench.call(
        "call_service", domain="light", service="turn_on", entity_id=["light.desk"], data={"brightness": 9}
    )
    assert told == "light.turn_on was called.\nlight.desk | on | Desk lamp"
    (call,) = small.calls
    assert (call["target"], call["service_data"]) == ({"entity_id": ["light.desk"]}, {"brightness": 9})
    assert "sun" in await bench.call("call_service", domain="weather", service="get_forecasts")
    assert "Did you mean turn_on?" in await bench.fails("call_service", domain="light", service="turn_onn")
    assert "no domain" in await bench.fails("call_service", domain="nothing", service="x")


@pytest.mark.parametrize("domain", ["shell_command", "python_script", "hassio", "rest_command", "pyscript"])
async def test_what_runs_programs_is_never_called_whoever_says_yes(make, small, domain):
    bench = make(small.url, YES, allow=[f"{domain}.anything"])
    assert "never called" in await bench.fails("call_service", domain=domain, service="anything")
    assert not small.calls
    assert not bench.context.questions


GUARDED = {
    "a lock": {"domain": "lock", "service": "unlock", "entity_id": ["lock.front"]},
    "a lock in a scene": {"domain": "scene", "service": "apply", "data": {"entities": {"lock.front": "unlocked"}}},
    "a lock in capitals": {"domain": "scene", "service": "apply", "data": {"entities": {"LOCK.Front": "unlocked"}}},
    "a lock among others": {"domain": "light", "service": "turn_on", "entity_id": ["light.desk", "lock.front"]},
    "a lock in a text": {"domain": "light", "service": "turn_on", "data": {"entity_id": "light.desk, lock.front"}},
}


@pytest.mark.parametrize("case", GUARDED)
async def test_a_guarded_thing_needs_a_person_in_every_mode(make, small, case):
    nobody = make(small.url, allow=["light.*", "scene.apply"])
    assert nobody.judge("call_service", **GUARDED[case]).outcome == "allow", "the tool asks, so that no mode lifts it"
    assert "needs a person's yes, and nobody is here" in await nobody.fails("call_service", **GUARDED[case])
    assert not small.calls
    somebody = make(small.url, YES)
    await somebody.call("call_service", **GUARDED[case])
    (question,) = somebody.context.questions
    assert "reaches for lock in your home" in question.risk
    assert question.choices == ("once", "deny")
    assert len(small.calls) == 1


async def test_a_lock_that_a_person_named_asks_nobody_and_a_star_does_not_name_it(make, small):
    call = GUARDED["a lock"]
    assert "nobody is here" in await make(small.url, allow=["lock.*"]).fails("call_service", **call)
    named = make(small.url, allow=["lock.unlock"])
    await named.call("call_service", **call)
    assert len(small.calls) == 1
    assert not named.context.questions


async def test_what_is_listed_asks_nobody_and_the_rest_asks_as_the_policy_says(make, small):
    bench = make(small.url, allow=["light.*"])
    listed = bench.judge("call_service", domain="light", service="turn_on", entity_id=["light.desk"])
    assert (listed.outcome, listed.effects) == ("allow", frozenset())
    other = bench.judge("call_service", domain="fan", service="turn_on", entity_id=["fan.a", "fan.b"])
    assert (other.outcome, other.effects) == ("ask", None)
    assert other.reason == "calls fan.turn_on for fan.a, fan.b in your home"
    assert bench.judge("list_entities").effects == frozenset()


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_spelling_of_a_blocked_domain_gets_through(domain, service):
    from hermes_core.types import ToolCall
    from hermes_tool_homeassistant.judging import judged

    class Ctx:
        config = Config()

    for given_domain in (domain, "Shell_Command", " shell_command", "shell_command.x", "ｓhell_command"):
        call = ToolCall(id="1", name="ha_call_service", arguments={"domain": given_domain, "service": service})
        verdict = judged(Ctx(), call)  # type: ignore[arg-type]  # all that it reads
        assert verdict.outcome == "deny" or (given_domain not in Config().blocked and given_domain.islower())


@given(
    st.recursive(
        st.just("lock.front"), lambda inner: st.lists(inner, min_size=1) | st.dictionaries(st.text(), inner, min_size=1)
    )
)
def test_a_guarded_entity_is_found_however_deep_it_lies(data):
    assert guarded_by(Config(), {"domain": "scene", "service": "apply", "data": {"x": data}}) == "lock"


async def test_others_use_it_only_where_the_owner_says_so(make, small):
    guest = Session(id="g", origin="telegram", owner=Principal(person="anna"))
    mine = Session(id="o", origin="cli")
    closed, opened = make(small.url), make(small.url, people=["anna"])
    for name, tool in closed.tools.items():
        assert tool.needs(guest) == "this home is its owner's alone", name
        assert tool.needs(mine) is None
    assert {tool.needs(guest) for tool in opened.tools.values()} == {None}
    unset = make(small.url, token="")
    assert all("HASS_TOKEN" in tool.needs(mine) for tool in unset.tools.values())


def test_all_tools_take_little_of_a_request(bench):
    import json

    from hermes_core.agent.arguments import tool_spec

    specs = [tool_spec(tool) for tool in bench.tools.values()]
    size = sum(len(json.dumps([s.name, s.description, s.schema])) for s in specs)
    assert size < 2_200, size


async def test_a_wrong_token_an_absent_home_and_another_service_are_told_in_words(make, small):
    wrong = await make(small.url, token="wrong").fails("list_areas")
    assert "does not know this access token" in wrong
    assert "wrong" not in wrong.replace("wrong token", "")
    assert "cannot be reached" in await make("http://127.0.0.1:1").fails("list_areas")
    small.says = "hello"
    assert "cannot be reached" in await make(small.url).fails("list_areas")
    small.says = "[" * 100_000
    assert "cannot be reached" in await make(small.url).fails("list_areas")


async def test_the_token_goes_nowhere_else(make, small):
    async with small_home(redirect=f"{small.url.replace('http', 'ws')}/api/websocket") as other:
        assert "HTTP status 307" in await make(other.url).fails("list_areas")
    assert not small.sockets


async def test_a_connection_that_ended_is_made_anew(bench, small):
    await bench.call("list_areas")
    await small.drop()
    assert await bench.call("list_areas") == "Küche (kitchen)"
    assert len(small.sockets) == 2


async def test_an_answer_that_does_not_come_and_a_refusal_are_told(make, small):
    small.answers["config/area_registry/list"] = lambda socket: None
    assert "did not answer within 1 seconds" in await make(small.url, seconds=1.0).fails("list_areas")
    small.answers["config/area_registry/list"] = {"success": False, "error": {"code": "x", "message": "No\nway."}}
    assert "Home Assistant refused: No way." in await make(small.url).fails("list_areas")


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, [None, 7], {"light": 3}, [{"entity_id": 5}]])
async def test_odd_answers_break_nothing(bench, small, odd):
    asked = ("get_states", "get_services", "config/area_registry/list", "config/device_registry/list")
    small.answers |= {what: {"success": True, "result": odd} for what in (*asked, "config/entity_registry/list")}
    small.answers["history/history_during_period"] = {"success": True, "result": odd}
    for name, arguments in {
        "list_entities": {}, "list_areas": {}, "list_services": {}, "get_state": {"entity_id": "light.desk"},
        "history": {"entity_id": "light.desk"},
    }.items():  # fmt: skip
        with suppress(ToolError):  # in words, and nothing else is raised
            assert isinstance(await bench.call(name, **arguments), str)
