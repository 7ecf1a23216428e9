"""What a service says of a key's limits, with a refusal or with an answer, is known to the next process of the home."""

import pytest

from hermes_core.testing.bench import Bench
from hermes_core.testing.model_service import http
from hermes_core.types import Failed

ANSWER = '{"choices": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}'


@pytest.mark.parametrize(
    "reply",
    [
        http(200, ANSWER, **{"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "40s"}),
        http(429, '{"error": {"message": "slow down"}}', **{"retry-after": "40"}),
    ],
    ids=["an answer", "a refusal"],
)
@pytest.mark.parametrize("pool", [False, True], ids=["one key", "two keys"])
async def test_a_limit_is_known_to_the_next_process(service, tmp_path, reply, pool) -> None:
    service.always = reply
    first, second = "sk-test-0000000001", "sk-test-0000000002"
    said = {"keys": [first, second]} if pool else {"api_key": first}
    for number in range(3):
        one = Bench(tmp_path / "home")
        one.tmp_plugin("hermes_provider_router")
        one.tmp_plugin("hermes_provider_openai")
        settings = {"model.provider": "custom", "model.default": "m", "agent.longest_wait": 1}
        one.configure({**settings, "providers.custom": {"base_url": service.url, **said}})
        async with one:
            events = [event async for event in one.turn("hello")]
            failed = next((event for event in events if isinstance(event, Failed)), None)
        keys = [asked.headers["authorization"][-1] for asked in service.asked]
        if not pool:
            assert keys == ["1"]
        elif number:
            assert keys == ["1", "2"]
    assert failed
    assert "to wait" in failed.text or "rest" in failed.text
