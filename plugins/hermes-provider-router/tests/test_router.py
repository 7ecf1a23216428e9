"""Whoever answers, the turn goes on: retries, other models, other keys, smaller requests."""

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from attrs import evolve

from hermes_core.errors import (
    AuthError,
    ContextTooLong,
    ProviderError,
    RateLimited,
    Refused,
    Unavailable,
)
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Provider
from hermes_core.testing import Call, Fail, Say
from hermes_core.testing.bench import Bench
from hermes_core.types import (
    Blob,
    Delta,
    Done,
    Ended,
    Endpoint,
    EndpointKey,
    Failed,
    Message,
    Model,
    Noticed,
    Reasoning,
    Request,
    Said,
    Text,
    TextDelta,
    Usage,
    UsageDelta,
)
from hermes_provider_kit import limits
from hermes_provider_router.keys import Keys, fingerprint
from hermes_provider_router.windows import Windows

DOWN = Unavailable("It is down.")
LIMIT = RateLimited("Too many.", retry_after=3600.0)
BROKE = Refused("No credit.", reason="billing")
POLICY = Refused("Not that.", reason="content_policy_blocked")


async def play(hermes, text="hello", **options):
    return [event async for event in hermes.turn(text, **options)]


async def ended(hermes, text="hello", **options):
    events = await play(hermes, text, **options)
    assert isinstance(events[-1], Ended)
    return events[-1]


def failed(events):
    return next(e for e in events if isinstance(e, Failed))


@pytest.fixture
def hermes(hermes):
    """A Hermes with the router."""
    hermes.tmp_plugin("hermes_provider_router")
    return hermes


def router(hermes):
    return hermes.runtime.models.router


async def rows(hermes):
    """The keys, as a person sees them."""
    runtime = hermes.runtime
    given = {name: runtime.settings.keys(name) for name in runtime.settings.config.providers}
    return await router(hermes).keys(given)


@pytest.fixture
def chain(hermes, scripted):
    """``chain(["a", …], ["b", …])``: providers one, two, …; the later ones stand in for the first."""

    def make(*scripts, **settings):
        names = ("one", "two", "three")[: len(scripts)]
        providers = [scripted(*steps, name=name) for name, steps in zip(names, scripts, strict=True)]
        for provider in providers:
            hermes.tmp_plugin(provider)
        fallbacks = [{"provider": name} for name in names[1:]]
        hermes.configure({"model.provider": "one", "fallback_providers": fallbacks, **settings})
        return providers

    return make


# --- retries -----------------------------------------------------------------------------------------------------


async def test_a_passing_fault_is_waited_out_and_a_lasting_one_is_not(chain, hermes) -> None:
    (one,) = chain([Fail(DOWN), Fail(Unavailable("x", reason="timeout")), "there"])
    assert (await ended(hermes)).answer == "there"
    assert len(one.requests) == 3


async def test_tries_are_counted(chain, hermes) -> None:
    chain([Fail(DOWN), Fail(DOWN)], **{"agent.model_tries": 2})
    assert failed(await play(hermes)).text == "It is down."


async def test_a_bad_certificate_is_never_tried_again(chain, hermes) -> None:
    chain([Fail(Unavailable("No safe connection.", transient=False, reason="ssl_cert_verification"))])
    assert "safe" in failed(await play(hermes)).text


@pytest.mark.parametrize("error", [RateLimited("Slow down.", retry_after=7.0), Unavailable("Busy.", retry_after=7.0)])
async def test_the_wait_a_service_asks_for_is_kept_and_told(chain, hermes, error) -> None:
    chain([Fail(error), "there"])
    slept = _no_sleep(hermes)
    events = await play(hermes)
    assert slept == [7.0]
    assert [e.text for e in events if isinstance(e, Noticed)] == [f"{error.text} Asking again in 7 s."]
    assert events[-1].answer == "there"


async def test_a_wait_longer_than_the_setting_is_told_instead(chain, hermes) -> None:
    chain([Fail(RateLimited("Slow down.", retry_after=9.0, hint="It asks to wait 9 s."))], **{"agent.longest_wait": 8})
    slept = _no_sleep(hermes)
    assert "9 s" in failed(await play(hermes)).hint
    assert slept == []


async def test_pauses_grow_at_random_up_to_a_cap() -> None:
    from hermes_provider_router.recovery import pause

    for attempt, most in ((1, 2.0), (2, 4.0), (3, 5.0), (9, 5.0)):
        found = [pause(DOWN, attempt, base=2.0, cap=5.0) for _ in range(200)]
        assert 0 <= min(found) < most / 4
        assert most * 3 / 4 < max(found) <= most


async def test_a_reply_that_ends_without_its_end_is_asked_for_again(chain, hermes) -> None:
    chain([[TextDelta(text="half")], "whole"])
    events = await play(hermes)
    assert events[-1].answer == "whole"
    assert any(isinstance(e, Noticed) and "begins again" in e.text for e in events)


async def test_half_a_stream_is_no_reply_and_the_whole_is_asked_for_again(chain, hermes) -> None:
    chain([Fail(Unavailable("The reply was cut."), said="Hel"), "whole"])
    events = await play(hermes, session="s")
    told = next(i for i, e in enumerate(events) if isinstance(e, Noticed))
    assert events[told].text == "The reply was cut. The answer begins again."
    assert "".join(e.text for e in events[told:] if isinstance(e, Said)) == "whole"
    kept = await (await hermes.runtime.store()).history.load("s")
    assert [p.text for m in kept for p in m.parts] == ["hello", "whole"]


async def test_a_stream_that_breaks_every_time_fails_the_turn(chain, hermes) -> None:
    chain([*[Fail(Unavailable("The reply was cut."), said="Hel")] * 3, "whole"])
    events = await play(hermes, session="s")
    assert events[-1].reason == "failed"
    assert [m.role for m in await (await hermes.runtime.store()).history.load("s")] == ["user"]
    assert (await ended(hermes, "again", session="s")).answer == "whole"


# --- fallback providers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [LIMIT, BROKE, POLICY, AuthError("Wrong key."), Refused("No.", reason="model_not_found")]
)
async def test_another_model_answers_and_the_person_is_told_once(chain, hermes, error) -> None:
    one, two = chain([Fail(error)], ["from two"])
    end = await ended(hermes, session="s")
    assert end.answer == "from two"
    assert end.note.startswith("scripted-1 from two answered, because scripted-1 from one could not: ")
    assert (len(one.requests), len(two.requests)) == (1, 1)
    reply = (await (await hermes.runtime.store()).history.load("s"))[-1]
    assert reply.meta["hermes"] == {"provider": "two", "model": "scripted-1"}


async def test_without_a_fault_nobody_else_is_asked(chain, hermes) -> None:
    chain(["from one"], [])
    assert (await ended(hermes)).note == ""


async def test_passing_faults_are_tried_first_and_then_handed_on(chain, hermes) -> None:
    one, _ = chain([Fail(DOWN)] * 3, ["from two"])
    assert (await ended(hermes)).answer == "from two"
    assert len(one.requests) == 3


async def test_after_a_limit_the_first_rests_and_is_tried_again_later(chain, hermes, monkeypatch) -> None:
    one, two = chain([Fail(LIMIT), "one again"], ["two", "two again", "two once more"])
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    assert (await ended(hermes, session="s")).answer == "two"
    now[0] += 59
    assert (await ended(hermes, session="s")).answer == "two again"
    assert len(one.requests) == 1
    now[0] += 2
    assert (await ended(hermes, session="s")).answer == "two once more"  # it said an hour
    monkeypatch.setattr(limits, "time", SimpleNamespace(time=lambda: time.time() + 3600))
    now[0] += 61
    assert (await ended(hermes, session="s")).answer == "one again"
    assert (len(one.requests), len(two.requests)) == (2, 3)


async def test_what_a_service_said_to_one_process_is_known_to_the_others(chain, hermes, tmp_path) -> None:
    one, two = chain([Fail(LIMIT)], ["two", "two in another process"])
    assert (await ended(hermes)).answer == "two"
    again = Bench(tmp_path / "home")
    for part in ("hermes_provider_router", one, two):
        again.tmp_plugin(part)
    again.configure({"model.provider": "one", "fallback_providers": ["two:scripted-1"]})
    async with again:
        end = await ended(again)
        assert end.answer == "two in another process"
        assert "answered, because scripted-1 from one could not" in end.note
        assert len(one.requests) == 1
        assert len(list((tmp_path / "home").rglob("limits/*.json"))) == 1
        await router(again).keys({}, reset="all")
        assert list((tmp_path / "home").rglob("limits/*.json")) == []


async def test_who_was_tried_in_vain_rests_ever_longer_and_one_try_tells_whether_it_is_back(
    chain, hermes, monkeypatch
) -> None:
    one, two = chain([Fail(DOWN)] * 5 + ["back", Fail(DOWN), "still there"], ["two"] * 5)
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    async def asked(after: float) -> tuple[str, int]:
        now[0] += after
        before = len(one.requests)
        answer = (await ended(hermes, session="s")).answer
        return answer, len(one.requests) - before

    assert await asked(0) == ("two", 3)
    assert await asked(29) == ("two", 0)
    assert await asked(2) == ("two", 1)
    assert await asked(59) == ("two", 0)
    assert await asked(2) == ("two", 1)
    assert await asked(121) == ("back", 1)
    assert await asked(0) == ("still there", 2)  # it is trusted again
    assert len(two.requests) == 5


async def test_one_that_stands_in_and_is_down_rests_too(chain, hermes) -> None:
    one, two, three = chain([Fail(BROKE)], [Fail(DOWN)] * 3, ["three", "three again"])
    assert [(await ended(hermes, session="s")).answer for _ in range(2)] == ["three", "three again"]
    assert [len(provider.requests) for provider in (one, two, three)] == [1, 3, 2]


async def test_a_turn_of_four_requests_tries_who_is_down_once(chain, hermes) -> None:
    one, two = chain([Fail(DOWN)] * 3, [Call("nothing"), Call("nothing"), Call("nothing"), "done"])
    events = await play(hermes)
    assert events[-1].answer == "done"
    assert (len(one.requests), len(two.requests)) == (3, 4)
    assert events[-1].note.count("because scripted-1 from one could not") == 1


async def test_one_whose_reply_has_no_end_is_not_tried_again_and_rests(chain, hermes) -> None:
    endless = Unavailable("It came to no end.", transient=False, reason="timeout")
    one, two = chain([Fail(endless)], ["two", "two again"])
    assert [(await ended(hermes, session="s")).answer for _ in range(2)] == ["two", "two again"]
    assert (len(one.requests), len(two.requests)) == (1, 2)


async def test_who_says_nothing_hands_on(chain, hermes) -> None:
    one, _ = chain([Say("")], ["from two", "two again"])
    first = await ended(hermes, session="s")
    assert first.answer == "from two"
    assert "its reply was empty" in first.note
    assert (await ended(hermes, session="s")).answer == "two again"
    assert len(one.requests) == 1


async def test_other_faults_make_nobody_rest(chain, hermes) -> None:
    chain([Fail(POLICY), "one"], ["two"])
    assert (await ended(hermes)).answer == "two"
    assert (await ended(hermes)).answer == "one"


async def test_when_nobody_can_answer_the_first_one_is_told_and_soon_tried_again(chain, hermes, monkeypatch) -> None:
    chain([Fail(LIMIT), "one"], [Fail(AuthError("Wrong key."))])
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    told = failed(await play(hermes))
    assert told.text == "Too many."
    assert "scripted-1 from two: the key is missing" in told.hint
    now[0] += 6
    monkeypatch.setattr(limits, "time", SimpleNamespace(time=lambda: time.time() + 3600))
    assert (await ended(hermes)).answer == "one"


async def test_entries_that_are_the_first_itself_or_cannot_be_used_are_passed_over(chain, hermes) -> None:
    one, _ = chain([Fail(BROKE)], ["from two"])
    hermes.configure({"fallback_providers": [{"provider": "one"}, {"provider": "nobody"}, "two:scripted-1"]})
    assert (await ended(hermes)).answer == "from two"
    assert len(one.requests) == 1


async def test_what_the_model_does_wrong_is_no_other_models_task(chain, hermes) -> None:
    broken = Fail(Unavailable("The call could not be read.", reason="invalid_output"))
    one, two = chain([broken] * 3, [])
    assert "could not be read" in failed(await play(hermes)).text
    assert (len(one.requests), len(two.requests)) == (3, 0)


async def test_bad_arguments_of_a_call_never_cause_a_fallback(chain, hermes) -> None:
    from hermes_core.types import CallDelta

    broken = [CallDelta(index=0, id="c", name="todo", arguments='{"a": '), Done(reason="tools")]
    chain([broken, "sorry"], [])
    assert (await ended(hermes)).answer == "sorry"


async def test_meta_of_one_provider_stays_its_own(chain, hermes) -> None:
    thought = [TextDelta(text="a"), Done(reason="stop", meta={"one": {"seal": "x"}})]
    _, two = chain([thought, Fail(POLICY)], ["b"])
    await ended(hermes, session="s")
    await ended(hermes, session="s")
    (reply,) = (m for m in two.requests[0].messages if m.role == "assistant")
    assert "two" not in reply.meta  # it looks under its own name only and finds nothing


# --- asking differently ------------------------------------------------------------------------------------------


async def test_what_a_service_chokes_on_is_left_out(chain, hermes) -> None:
    picture = Message(role="user", parts=(Text(text="Look"), Blob(media_type="image/png", data=b"x")))
    (one,) = chain([Fail(Refused("Too large.", reason="image_too_large")), "I see nothing"])
    assert (await ended(hermes, picture)).answer == "I see nothing"
    assert not any(isinstance(p, Blob) for p in one.requests[1].messages[-1].parts)


async def test_thoughts_that_are_refused_are_sent_bare(chain, hermes) -> None:
    from hermes_core.types import ReasoningDelta

    think = [ReasoningDelta(text="hm", meta={"one": "seal"}), TextDelta(text="a"), Done(reason="stop", meta={"one": 1})]
    (one,) = chain([think, Fail(Refused("Bad seal.", reason="thinking_signature")), "b"])
    await ended(hermes, session="s")
    assert (await ended(hermes, session="s")).answer == "b"
    kept, bare = (next(m for m in r.messages if m.role == "assistant") for r in one.requests[1:])
    assert kept.meta["one"] == 1
    assert not bare.meta
    assert [p.meta for p in bare.parts if isinstance(p, Reasoning)] == [{}]


async def test_the_same_complaint_twice_is_told(chain, hermes) -> None:
    picture = Message(role="user", parts=(Blob(media_type="image/png", data=b"x"),))
    chain([Fail(Refused("Too large.", reason="image_too_large"))] * 2)
    assert failed(await play(hermes, picture)).text == "Too large."


# --- several keys ------------------------------------------------------------------------------------------------


class Keyed(Provider):
    """Answers with the key it was given; ``faults`` are raised for a key, one each time."""

    name = "keyed"
    default_model = "k-1"

    def __init__(self, key: str = "", faults: dict[str, list[ProviderError]] | None = None) -> None:
        self.key, self.faults = key, {} if faults is None else faults

    async def models(self) -> list[Model]:
        return [Model(name="k-1")]

    async def ready(self) -> bool:
        return True

    def at(self, endpoint: Endpoint) -> Provider:
        return Keyed(endpoint.api_key, self.faults)

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        if left := self.faults.get(self.key):
            raise left.pop(0)
        yield TextDelta(text=self.key)
        yield UsageDelta(usage=Usage(input=5, output=1, calls=1))
        yield Done(reason="stop")


@pytest.fixture
def keyed(hermes, monkeypatch):
    """``keyed({"ka": [error]})``: a provider with the keys ka, kb and kc."""

    def make(faults, **settings):
        for name in "ABC":
            monkeypatch.setenv(f"KEY_{name}", f"k{name.lower()}")
        hermes.tmp_plugin(Keyed(faults=faults))
        keys = ["env:KEY_A", "env:KEY_B", "env:KEY_C", "env:KEY_NONE"]
        hermes.configure({"model.provider": "keyed", "providers": {"keyed": {"keys": keys, **settings}}})

    return make


async def states(hermes):
    return {row.source: row.state for row in await rows(hermes)}


async def test_a_key_that_is_refused_rests_and_the_next_one_is_used(hermes, keyed) -> None:
    keyed({"ka": [AuthError("Wrong.")]})
    assert (await ended(hermes)).answer == "kb"
    assert (await states(hermes)) == {
        "env:KEY_A": "resting", "env:KEY_B": "ok", "env:KEY_C": "ok", "env:KEY_NONE": "missing",
    }  # fmt: skip
    (row,) = (r for r in await rows(hermes) if r.state == "resting")
    assert row.left == pytest.approx(300, abs=5)


async def test_a_revoked_key_is_dead(hermes, keyed) -> None:
    keyed({"ka": [AuthError("Revoked.", permanent=True)]})
    assert (await ended(hermes)).answer == "kb"
    assert (await states(hermes))["env:KEY_A"] == "dead"


async def test_one_limit_is_tried_again_on_the_same_key_and_the_second_rotates(hermes, keyed) -> None:
    keyed({"ka": [RateLimited("Slow.", retry_after=1.0), RateLimited("Slow.", retry_after=90.0)]})
    slept = _no_sleep(hermes)
    assert (await ended(hermes)).answer == "kb"
    assert slept == [1.0, 0.0]
    (row,) = (r for r in await rows(hermes) if r.state == "resting")
    assert row.left == pytest.approx(90, abs=5)


async def test_without_credit_a_key_rests_for_an_hour(hermes, keyed) -> None:
    keyed({"ka": [BROKE], "kb": [BROKE]})
    assert (await ended(hermes)).answer == "kc"
    left = [r.left for r in await rows(hermes) if r.state == "resting"]
    assert left == pytest.approx([3600, 3600], abs=5)


async def test_when_all_keys_rest_the_time_is_told(hermes, keyed) -> None:
    keyed({"ka": [BROKE], "kb": [BROKE], "kc": [BROKE]})
    assert failed(await play(hermes)).text == "No credit."
    told = failed(await play(hermes))
    assert "All keys of keyed rest; the first is free in 3" in told.text
    assert "hermes model keys" in told.hint


async def test_what_is_known_of_keys_outlives_the_process_and_holds_no_key(hermes, keyed) -> None:
    keyed({"ka": [AuthError("Wrong.")]})
    await ended(hermes)
    kept = await context(hermes).documents.get("keys")
    assert not any(f'"{key}"' in json.dumps(kept.value) for key in ("ka", "kb", "KEY_A"))
    later, place = Keys(context(hermes).documents, Path("none")), hermes.runtime.settings.endpoint("keyed")
    assert (await later.pick("keyed", place)).value == "kb"
    await later.reset({"keyed": place.keys}, "all")
    assert (await later.pick("keyed", place)).value == "ka"
    await context(hermes).documents.put("keys", {"keyed": "broken"})
    assert (await later.pick("keyed", place)).value == "ka"


async def test_keys_that_rest_in_an_older_home_rest_on(hermes, keyed) -> None:
    keyed({})
    mark = fingerprint(EndpointKey(source="env:KEY_A", value="ka"))
    cache = hermes.runtime.home.cache
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "keys.json").write_text(json.dumps({"keyed": {mark: {"dead": True, "reason": "auth_permanent"}}}))
    assert (await ended(hermes)).answer == "kb"
    assert (await states(hermes))["env:KEY_A"] == "dead"


def context(hermes):
    return router(hermes)._context


async def test_keys_take_turns_as_configured(hermes, keyed) -> None:
    keyed({}, strategy="round_robin")
    assert [(await ended(hermes)).answer for _ in range(4)] == ["ka", "kb", "kc", "ka"]


async def test_the_least_used_key_comes_first(hermes, keyed) -> None:
    keyed({}, strategy="least_used")
    assert sorted([(await ended(hermes)).answer for _ in range(3)]) == ["ka", "kb", "kc"]


async def test_a_key_that_was_replaced_in_its_file_is_picked_up(hermes) -> None:
    home = hermes.runtime.home
    await hermes.close()
    home.env_file.write_text("KEY_F=old\n")
    hermes.tmp_plugin(Keyed(faults={"old": [AuthError("Wrong.")] * 2}))
    hermes.configure({"model.provider": "keyed", "model.api_key": "env:KEY_F"})
    assert failed(await play(hermes)).text == "Wrong."
    home.env_file.write_text("KEY_F=new\n")
    assert (await ended(hermes)).answer == "new"


# --- models for tasks --------------------------------------------------------------------------------------------


async def test_a_task_has_its_own_model_and_its_use_is_booked(chain, hermes) -> None:
    _, two = chain([], ["a title"], auxiliary={"title": {"provider": "two", "effort": "low"}})
    response = await hermes.runtime.routes.complete(Request(model="", messages=()), "title")
    assert response.message.parts[0].text == "a title"
    assert two.requests[0].options["effort"] == "low"
    (row,) = await (await hermes.runtime.store()).spending.usage(hermes.runtime.owner, days=1)
    assert (row.provider, row.task, row.turns, row.usage.output) == ("two", "title", 0, 2)


async def test_a_task_without_a_model_is_done_by_the_main_one(chain, hermes) -> None:
    one, _ = chain(["done"], [], auxiliary={"title": {"provider": "auto"}})
    await hermes.runtime.routes.complete(Request(model="", messages=()), "title")
    assert (len(one.requests), hermes.runtime.models.notices) == (1, [])


async def test_when_a_tasks_models_fail_the_main_one_does_it_and_that_is_said_once(chain, hermes) -> None:
    tasks = {"title": {"provider": "two", "fallback": [{"provider": "three"}]}}
    chain(["main", "main"], [Fail(BROKE)], [Fail(BROKE)], auxiliary=tasks)  # the second time both rest
    for _ in range(2):
        response = await hermes.runtime.routes.complete(Request(model="", messages=()), "title")
        assert response.message.parts[0].text == "main"
    assert len(hermes.runtime.models.notices) == 1
    assert "title" in hermes.runtime.models.notices[0]


async def test_a_task_that_takes_too_long_goes_to_the_next(chain, hermes) -> None:
    import asyncio

    class Slow(Keyed):
        name = "slow"

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            await asyncio.Event().wait()
            yield Done(reason="stop")

    chain(["main"], auxiliary={"title": {"provider": "slow", "timeout": 0.01}})
    hermes.tmp_plugin(Slow())
    response = await hermes.runtime.routes.complete(Request(model="", messages=()), "title")
    assert response.message.parts[0].text == "main"


# --- windows -----------------------------------------------------------------------------------------------------


def shrinking(sizes: list[int]):
    @hookimpl
    async def pre_llm_call(request: Request) -> Request | None:
        sizes.append(request.context)
        if request.context < 100_000:  # a compressor: only the last message stays
            return evolve(request, messages=(request.messages[0], request.messages[-1]))
        return None

    return pre_llm_call


LONG = "word " * 60_000


async def test_what_does_not_fit_is_built_again_for_the_window_the_service_names(chain, hermes) -> None:
    sizes: list[int] = []
    (one,) = chain(["ok", Fail(ContextTooLong("Too long.", window=64_000)), "fits"])
    hermes.tmp_plugin(shrinking(sizes), manifest={"permissions": {"kernel": ["history.rewrite"]}})
    await ended(hermes, LONG, session="s")
    assert (await ended(hermes, "short", session="s")).answer == "fits"
    assert sizes == [128_000, 128_000, 64_000]
    assert (await ended_next(hermes, one)) == 64_000  # and it is kept for later requests


async def ended_next(hermes, provider) -> int:
    provider.add("again")
    await ended(hermes, "more", session="s")
    return provider.requests[-1].context


async def test_without_a_named_window_the_next_tier_is_tried(chain, hermes) -> None:
    sizes: list[int] = []
    chain(["ok", Fail(ContextTooLong("Too long.")), "fits"])
    hermes.tmp_plugin(shrinking(sizes), manifest={"permissions": {"kernel": ["history.rewrite"]}})
    await ended(hermes, LONG, session="s")
    assert (await ended(hermes, "short", session="s")).answer == "fits"
    assert sizes[-1] == 64_000  # of about 75,000 tokens


async def test_a_window_that_nobody_names_is_learned_and_not_paid_for_at_every_turn(chain, hermes) -> None:
    sizes: list[int] = []
    (one,) = chain(["ok", Fail(ContextTooLong("Too long.")), "fits"])
    hermes.tmp_plugin(shrinking(sizes), manifest={"permissions": {"kernel": ["history.rewrite"]}})
    await ended(hermes, LONG, session="s")
    await ended(hermes, "short", session="s")
    assert (await ended_next(hermes, one)) == 64_000
    windows = hermes.runtime.home.root / "cache" / "provider-router" / "windows.json"
    assert list(json.loads(windows.read_text()).values()) == [-64_000]


def test_what_a_service_names_counts_more_than_a_guess(tmp_path) -> None:
    windows = Windows(tmp_path / "windows.json")
    windows.guess("a", 64_000)
    windows.guess("a", 128_000)
    assert windows.get("a") == 64_000
    windows.learn("a", 100_000)
    assert Windows(tmp_path / "windows.json").get("a") == 100_000
    windows.guess("a", 32_000)
    assert windows.get("a") == 32_000, "it refused less than it named"


async def test_pictures_that_are_refused_say_nothing_of_the_window(chain, hermes) -> None:
    picture = Blob(media_type="image/png", data=b"x", name="a.png")
    (one,) = chain(["ok", Fail(ContextTooLong("Too large.", reason="payload_too_large")), "fits"])
    hermes.tmp_plugin(shrinking([]), manifest={"permissions": {"kernel": ["history.rewrite"]}})
    await ended(hermes, LONG, session="s")
    message = Message(role="user", parts=(Text(text="see"), picture))
    [event async for event in hermes.runtime.turns.run(message, session="s")]
    assert (await ended_next(hermes, one)) == 128_000


async def test_what_nothing_makes_smaller_is_told_clearly(chain, hermes) -> None:
    one, two = chain([Fail(ContextTooLong("Too long.", window=8_000))], [])
    told = failed(await play(hermes, LONG))
    assert (told.kind, len(one.requests), len(two.requests)) == ("context_too_long", 1, 0)
    assert "about 75," in told.text
    assert "It takes 8,000." in told.text
    assert "new session" in told.hint


async def test_a_window_in_the_settings_wins(chain, hermes) -> None:
    (one,) = chain(["a"], **{"model.context_length": 4_000})
    await ended(hermes)
    assert one.requests[0].context == 4_000


async def test_a_service_is_asked_for_its_window_only_when_it_matters(hermes) -> None:
    asked = []

    class Big(Keyed):
        name = "big"

        async def models(self) -> list[Model]:
            asked.append(1)
            return [Model(name="k-1", context=32_768)]

        async def stream(self, request: Request) -> AsyncIterator[Delta]:
            asked.append(request.context)
            yield TextDelta(text="a")
            yield UsageDelta(usage=Usage(input=100 if len(asked) < 2 else 5_000, output=1, calls=1))
            yield Done(reason="stop")

    hermes.tmp_plugin(Big())
    hermes.configure({"model.provider": "big"})
    for _ in range(3):
        await ended(hermes, session="s")
        for task in list(router(hermes)._looking):
            await task
    assert asked == [0, 0, 1, 32_768]


# --- effort, usage -----------------------------------------------------------------------------------------------


async def test_effort_is_the_models_own_the_conversations_or_the_usual_one(chain, hermes) -> None:
    one, two = chain(
        ["a", Fail(POLICY)],
        ["b"],
        **{
            "model.effort": "low",
            "model.efforts": {"scripted-1": "high"},
            "fallback_providers": [{"provider": "two", "effort": "max"}],
        },
    )
    await ended(hermes)
    await ended(hermes)
    assert [r.options["effort"] for r in (*one.requests, *two.requests)] == ["high", "high", "max"]


async def test_every_call_of_a_turn_is_booked_under_who_answered(chain, hermes) -> None:
    chain([Fail(POLICY), Say("end")], [Call("nothing")])
    end = await ended(hermes, session="s")
    rows = await (await hermes.runtime.store()).spending.usage(hermes.runtime.owner, days=1)
    assert [(r.provider, r.usage.calls, r.turns, r.unpriced) for r in rows] == [("one", 1, 1, 1), ("two", 1, 1, 1)]
    assert end.usage.calls == 2


def _no_sleep(hermes) -> list[float]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    router(hermes).sleep = sleep
    return slept
