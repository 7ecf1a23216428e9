"""Who is asked, what for, and what happens where nobody is there."""

import time

import pytest
from attrs import evolve

from hermes_core.errors import ToolError
from hermes_core.testing import FakeToolContext
from hermes_core.types import Approval, Principal, Session, Verdict
from hermes_tool_vault import register_tool_sources
from hermes_tool_vault.items import Binding, code

SECRET = "Tr0ub4dor&3-kX9!qZ"
USE = {"command": "tool", "environment": {"TOKEN": "{{vault:token}}"}}
YES = Verdict(outcome="allow", by="person", choice="once")


@pytest.fixture
def bound(keep, program):
    binding = program("echo ran ${#TOKEN}")
    keep(bindings=[binding])
    return binding


def context(place, *, verdict=None, **fields):
    made = FakeToolContext(place, verdict=verdict)
    made.session = evolve(Session(id="s1", origin="embed", cwd=place.cwd, turn="t1"), **fields)
    return made


async def test_a_person_is_told_what_goes_where(call, bound):
    assert await call("vault_run", **USE) == f"ran {len(SECRET)}"
    (question,) = call.context.questions
    assert question.kind == "approval"
    assert "`token`" in question.risk
    assert "tool" in question.risk
    assert SECRET not in repr(question)


async def test_no_is_no(call, bound, place):
    with pytest.raises(ToolError, match="does not want"):
        await call("vault_run", verdict=Verdict(outcome="deny", by="person", reason="Not now."), **USE)
    assert not place.requests


async def test_with_nobody_there_it_is_refused_with_what_would_allow_it(call, bound, place):
    with pytest.raises(ToolError, match="hermes vault bind token --command tool --unattended"):
        await call("vault_run", context=context(place), **USE)
    assert not place.requests


async def test_once_is_once_and_the_session_is_the_session(call, bound, place):
    for _ in range(2):
        here = context(place, verdict=YES)
        await call("vault_run", context=here, **USE)
        assert len(here.questions) == 1
    await call("vault_run", context=context(place, verdict=evolve(YES, choice="session")), **USE)
    await call("vault_run", context=context(place), **USE)
    with pytest.raises(ToolError):
        await call("vault_run", context=context(place, id="s2"), **USE)


async def test_a_yes_covers_no_other_value_and_no_other_place(call, bound, keep, place, program):
    await call("vault_run", context=context(place, verdict=evolve(YES, choice="session")), **USE)
    keep("second", bindings=[bound])
    with pytest.raises(ToolError):
        await call("vault_run", context=context(place), command="tool", environment={"TOKEN": "{{vault:second}}"})
    with pytest.raises(ToolError):
        await call("vault_run", context=context(place), command="tool", environment={"OTHER": "{{vault:token}}"})
    keep(bindings=[bound, program("echo", "more")])
    with pytest.raises(ToolError):
        await call("vault_run", context=context(place), command="more", environment={"TOKEN": "{{vault:token}}"})


async def test_unattended_is_a_persons_word_and_does_not_count_with_text_from_outside(call, bound, keep, place):
    keep(bindings=[evolve(bound, unattended=True)])
    assert "ran" in await call("vault_run", context=context(place), **USE)
    with pytest.raises(ToolError, match="text from outside"):
        await call("vault_run", context=context(place, untrusted=True), **USE)


async def test_with_text_from_outside_a_yes_is_for_the_very_call(call, bound, place):
    lasting = evolve(YES, choice="session")
    await call("vault_run", context=context(place, verdict=lasting), **USE)
    with pytest.raises(ToolError):
        await call("vault_run", context=context(place, untrusted=True), **USE)
    here = context(place, untrusted=True, verdict=lasting)
    await call("vault_run", context=here, **USE)
    assert "text from outside" in here.questions[0].risk
    await call("vault_run", context=context(place, untrusted=True), **USE)
    with pytest.raises(ToolError):
        await call("vault_run", context=context(place, untrusted=True), **{**USE, "command": "tool --more"})


async def test_who_said_yes_to_the_policy_is_not_asked_again(ctx, call, bound, place):
    def row(**fields):
        made = {"id": "a1", "session_id": "s1", "turn_id": "t1", "call_id": "call-1", "state": "answered"}
        made |= {"verdict": "allow", "subject": 'vault_run(tool)\nenvironment: {"TOKEN": "{{vault:token}}"}'}
        return Approval(**(made | fields))

    ctx.approvals.rows["a1"] = row()
    assert "ran" in await call("vault_run", context=context(place), **USE)
    wrong = [{"turn_id": "t0"}, {"session_id": "s2"}, {"call_id": "c"}, {"verdict": "deny"}, {"subject": "x"}]
    for fields in (*wrong, {"state": "open"}, {"state": "expired"}):
        ctx.approvals.rows["a1"] = row(**fields)
        with pytest.raises(ToolError):
            await call("vault_run", context=context(place), **USE)


async def test_it_is_its_owners_alone(ctx, call, bound, place, site):
    guest = context(place, owner=Principal(person="guest"), verdict=YES)
    (source,) = register_tool_sources(ctx)
    assert not source.tools(guest.session)
    assert len(list(source.tools(context(place).session))) == 4
    for name, given in (("vault_run", USE), ("vault_fetch", {"url": site.url, "headers": {"X": "{{vault:token}}"}})):
        with pytest.raises(ToolError, match="owner"):
            await call(name, context=guest, **given)


def test_without_a_vault_nothing_is_offered(ctx, place):
    (source,) = register_tool_sources(ctx)
    assert not source.tools(context(place).session)


async def test_the_list_has_no_values(call, keep, bound):
    keep("visa", "card", number="4111111111111111", expiry="12/2031", cvc="987", holder="Ann")
    said = await call("vault_list")
    assert "{{vault:token.secret}}" in said
    assert "{{vault:visa.number}}" in said
    assert bound.path in said
    assert not [value for value in (SECRET, "4111", "987", "12/2031") if value in said]


async def test_codes_and_cards_and_pairs_arrive(call, keep, site, vault):
    binding = Binding(kind="origin", target=site.url)
    fields = {"seed": "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", "digits": "6", "period": "30", "algorithm": "SHA1"}
    keep("bank", "totp", [binding], **fields)
    keep("visa", "card", [binding], number="4111111111111111", expiry="12/2031", cvc="987", holder="")
    keep("token", "password", [binding], secret=SECRET, user="ann")
    site.answer = lambda headers, body: (200, {}, body)
    body = "{{vault:bank.code}} {{vault:visa.number}} {{ vault:visa.cvc }} {{vault:token.basic}}"
    said = await call("vault_fetch", url=site.url, method="POST", body=body)
    sent = site.asked[0][2].decode().split()
    assert sent[0] in {code(fields, time.time() + shift) for shift in (0, -30)}
    assert sent[1:3] == ["4111111111111111", "987"]
    assert said.replace("⟦secret⟧", "").split() == ["HTTP", "200"]
    assert sent[0] in vault.codes()
    with pytest.raises(ToolError, match="name the part"):
        await call("vault_fetch", url=site.url, headers={"X": "{{vault:visa}}"})


async def test_a_value_that_is_not_bound_is_not_given(call, keep, site, program):
    keep()
    program("env")
    with pytest.raises(ToolError, match="vault bind token --command"):
        await call("vault_run", **USE)
    with pytest.raises(ToolError, match="vault bind token, with --header"):
        await call("vault_fetch", url=site.url, headers={"X": "{{vault:token}}"})
