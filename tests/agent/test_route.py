"""Who answers a turn, what is said of it, and how it fails where nothing stands between turns and providers."""

import asyncio

import pytest
from attrs import evolve

from hermes_core.agent.route import catalogue, choice, routing
from hermes_core.errors import ContextTooLong, PluginError, Unavailable, UserError
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Attempt, Router
from hermes_core.testing import Fail, RouterContract
from hermes_core.types import Ended, Failed, Request, Usage


async def play(hermes, text="hello", **options):
    return [event async for event in hermes.turn(text, **options)]


async def ended(hermes, text="hello", **options):
    events = await play(hermes, text, **options)
    assert isinstance(events[-1], Ended)
    return events[-1]


def test_settings_say_who_stands_in(hermes) -> None:
    hermes.configure({"fallback_providers": ["deepseek:deepseek-chat", {"provider": "x", "key_env": "K"}]})
    first, second = hermes.runtime.settings.config.fallback_providers
    assert (first.provider, first.model, second.key_env) == ("deepseek", "deepseek-chat", "K")


@pytest.mark.parametrize(
    "said", [{"api_mode": "anthropic_messages"}, {"protocol": "messages"}, {"base_url": "https://x.example/anthropic"}]
)
async def test_the_messages_protocol_is_spoken_by_who_knows_it(hermes, scripted, said) -> None:
    hermes.tmp_plugin(scripted(name="custom"))
    hermes.tmp_plugin(scripted("hello", name="anthropic"))
    place = {"base_url": "https://llm.example", **said}
    hermes.configure({"model": {"provider": "acme", "default": "m"}, "providers": {"acme": place}})
    assert (await ended(hermes)).answer == "hello"
    assert hermes.runtime.routes.current.name == "acme"


@pytest.mark.parametrize(
    ("usage", "cost", "priced"),
    [
        (Usage(input=1_000_000, output=100_000, calls=1), 4.0, "estimated"),
        (Usage(input=1_000_000, cache_read=500_000, cache_write=100_000, calls=1), 1.35, "estimated"),
        (Usage(input=9, cost=0.25, calls=1), 0.25, "actual"),
        (Usage(input=9, priced="actual", calls=1), 0.0, "actual"),
    ],
)
def test_cost_is_the_services_own_or_by_the_list(usage, cost, priced) -> None:
    from hermes_core.agent.usage import priced as with_cost
    from hermes_core.types import Price

    found = with_cost(usage, Price(input=2.0, output=20.0, cache_read=0.2, cache_write=4.5))
    assert (round(found.cost, 9), found.priced) == (cost, priced)
    assert with_cost(Usage(input=9, calls=1), None).priced == ""


def test_a_sum_of_costs_is_as_certain_as_its_weakest_part() -> None:
    from hermes_core.agent.usage import add

    known, guessed, unknown = (Usage(calls=1, priced=p) for p in ("actual", "estimated", ""))
    assert add(Usage(), known).priced == "actual"
    assert add(known, guessed).priced == "estimated"
    assert add(add(known, guessed), unknown).priced == ""


# --- without a plugin that routes ---------------------------------------------------------------------------------


async def test_without_a_router_the_first_choice_is_asked_once_and_its_own_words_say_why(hermes, scripted) -> None:
    one = scripted(Fail(Unavailable("It is down.", hint="Look at its status page.")), name="one")
    two = scripted(name="two")
    hermes.tmp_plugin(one)
    hermes.tmp_plugin(two)
    hermes.configure({"model.provider": "one", "fallback_providers": ["two:m"]})
    failed = next(e for e in await play(hermes) if isinstance(e, Failed))
    assert (failed.text, failed.hint) == ("It is down.", "Look at its status page.")
    assert (len(one.requests), len(two.requests)) == (1, 0)


async def test_without_a_router_the_first_of_several_keys_is_used(hermes, scripted, monkeypatch) -> None:
    monkeypatch.setenv("KEY_B", "kb")
    hermes.tmp_plugin(scripted(name="one"))
    hermes.configure({"model.provider": "one", "providers": {"one": {"keys": ["env:KEY_A", "env:KEY_B"]}}})
    assert hermes.runtime.settings.endpoint("one").api_key == "kb"
    with pytest.raises(UserError, match="Of several keys only the first is used"):
        await hermes.runtime.models.router.keys({"one": hermes.runtime.settings.keys("one")})


async def test_without_a_router_a_window_that_the_service_names_is_kept_to(hermes, scripted) -> None:
    one = scripted("ok", Fail(ContextTooLong("Too long.", window=8_000)), "fits")
    hermes.tmp_plugin(one)

    @hookimpl
    async def pre_llm_call(request: Request) -> Request | None:
        few = request.context == 8_000  # a compressor: only the last message stays
        return evolve(request, messages=(request.messages[0], request.messages[-1])) if few else None

    hermes.tmp_plugin(pre_llm_call, manifest={"permissions": {"kernel": ["history.rewrite"]}})
    await ended(hermes, session="s")
    assert (await ended(hermes, "more", session="s")).answer == "fits"


# --- what a router may get wrong ----------------------------------------------------------------------------------


class Routed(Router):
    """A router whose attempts are those of a function."""

    name = "routed"

    def __init__(self, attempts) -> None:
        self.attempts = attempts


class TestTheKernelsOwn(RouterContract):
    @pytest.fixture
    def router(self) -> Router:
        return Router()


MAY = {"permissions": {"kernel": ["models.route"]}}


def routed(hermes, attempts, **manifest):
    hermes._options["strict"] = False
    return hermes.tmp_plugin(Routed(attempts), manifest=MAY | manifest)


async def test_a_router_says_who_is_tried_and_hears_what_came_of_it(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted(Fail(Unavailable("It is down.")), "there"))
    heard = []

    async def attempts(call):
        while True:
            heard.append((yield Attempt(route=call.route, request=call.request, note="The second time.")))

    routed(hermes, attempts)
    end = await ended(hermes)
    assert (end.answer, end.note) == ("there", "The second time.")
    assert [type(one).__name__ for one in heard] == ["Unavailable", "Response"]


async def test_a_router_that_falls_costs_what_it_would_have_added(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one", Fail(Unavailable("It is down."))))

    async def attempts(call):
        raise RuntimeError("boom")
        yield

    label = routed(hermes, attempts)
    assert (await ended(hermes)).answer == "one"
    assert next(e for e in await play(hermes) if isinstance(e, Failed)).text == "It is down."
    (fault,) = hermes.runtime.dispatch.faults
    assert (fault.plugin, fault.where, fault.error) == (label, "attempts", "RuntimeError: boom")


async def test_a_router_that_falls_after_the_answer_takes_nothing_away(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one", "two"))

    async def attempts(call):
        yield Attempt(route=call.route, request=call.request)
        raise ValueError("late") if len(call.request.messages) < 3 else Unavailable("It never was there.")

    routed(hermes, attempts)
    assert [(await ended(hermes, session="s")).answer for _ in range(2)] == ["one", "two"]
    assert len(hermes.runtime.dispatch.faults) == 2


async def test_a_router_that_cannot_say_a_window_costs_its_word_only(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one"))

    async def attempts(call):
        yield Attempt(route=call.route, request=call.request)

    def window(route):
        raise RuntimeError("boom")

    hermes._options["strict"] = False
    label = hermes.tmp_plugin(router := Routed(attempts), manifest=MAY)
    router.window = window
    assert (await ended(hermes)).answer == "one"
    assert [(fault.plugin, fault.where) for fault in hermes.runtime.dispatch.faults] == [(label, "window")]


async def test_a_router_that_does_not_let_go_is_left_behind(hermes, scripted, monkeypatch) -> None:
    monkeypatch.setattr(routing, "_CLOSE", 0.05)
    hermes.tmp_plugin(scripted("one"))

    async def attempts(call):
        yield Attempt(route=call.route, request=call.request)

    hermes._options["strict"] = False
    label = hermes.tmp_plugin(router := Routed(attempts), manifest=MAY)
    router.close = asyncio.Event().wait
    assert (await ended(hermes)).answer == "one"
    runtime = hermes.runtime
    await hermes.close()
    assert [(fault.plugin, fault.where) for fault in runtime.dispatch.faults] == [(label, "close")]


async def test_what_is_no_attempt_is_a_fault_of_the_router(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one"))

    async def attempts(call):
        yield "somebody else"

    routed(hermes, attempts)
    assert (await ended(hermes)).answer == "one"
    assert "tries Attempts, not a str" in hermes.runtime.dispatch.faults[0].error


async def test_without_the_permission_nobody_stands_between_you_and_your_models(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("one"))

    async def attempts(call):
        raise AssertionError("asked")
        yield

    routed(hermes, attempts, permissions={})
    assert (await ended(hermes)).answer == "one"
    (fault,) = hermes.runtime.dispatch.faults
    assert fault.error == "stands between you and your models without declaring it"


async def hangs(*_: object) -> None:
    await asyncio.sleep(1000)


async def breaks(*_: object) -> None:
    raise KeyError("x")


@pytest.mark.parametrize(("way", "said"), [(hangs, "no answer within 0.05 s"), (breaks, "KeyError: 'x'")])
async def test_a_provider_that_cannot_say_what_it_has_is_named(hermes, scripted, monkeypatch, way, said) -> None:
    monkeypatch.setattr(choice, "_PATIENCE", {"ready": 0.05, "models": 0.05})
    good, bad = scripted("hello", name="good"), scripted(name="bad")
    bad.priority, bad.default_model = 0, ""
    for method in ("ready", "models"):
        monkeypatch.setattr(bad, method, way)
    label = hermes.tmp_plugin(bad)
    hermes.tmp_plugin(good)
    assert (await ended(hermes)).answer == "hello"
    with pytest.raises(PluginError, match=f"{label}.*models: {said}"):
        await catalogue.model_rows(hermes.runtime, "bad")
    told = {(fault.plugin, fault.where): fault.error for fault in hermes.runtime.dispatch.faults}
    assert told == {(label, "ready"): said, (label, "models"): said}


@pytest.mark.parametrize("bad", [lambda _: 1 / 0, lambda _: "dear", lambda _: __import__("time").sleep(0.3)])
async def test_a_provider_that_cannot_say_a_price_is_named_once(hermes, scripted, monkeypatch, bad) -> None:
    monkeypatch.setattr(routing, "_SAYS", 0.05)
    model = scripted("hello", "again")
    monkeypatch.setattr(model, "price", bad)
    label = hermes.tmp_plugin(model)
    monkeypatch.setattr(hermes.runtime.loader, "is_own", lambda _: False)  # ours is not watched
    assert [(await ended(hermes, text)).usage.priced for text in ("one", "two")] == ["", ""]
    [fault] = hermes.runtime.dispatch.faults
    assert (fault.plugin, fault.where) == (label, "price")


async def test_a_router_that_hangs_at_once_is_not_given_the_pauses(hermes, scripted, monkeypatch) -> None:
    monkeypatch.setattr(routing, "_THINKS", 0.05)

    async def attempts(call):
        await hangs()
        yield Attempt(route=call.route, request=call.request)

    hermes.tmp_plugin(scripted("hello"))
    routed(hermes, attempts)
    assert (await ended(hermes)).answer == "hello"
    assert hermes.runtime.dispatch.faults[0].error == "no answer within 0.05 s"


async def test_a_provider_of_hermes_that_is_not_here_is_named_and_is_no_name_of_a_model(hermes, scripted) -> None:
    hermes.tmp_plugin(scripted("hello", name="acme"))
    hermes.configure({"model": {"provider": "acme", "default": "m"}})
    with pytest.raises(UserError) as told:
        await hermes.runtime.routes.get("gemini:gemini-flash-latest")
    assert "There is no provider named 'gemini'" in told.value.text
    assert told.value.hint == "hermes plugins install hermes-provider-gemini"
    assert (await hermes.runtime.routes.get("llama3:8b")).model == "llama3:8b"  # a tag of a model
    assert (await ended(hermes)).answer == "hello"
