"""What a row says of a service is what it is sent."""

import pytest
from attrs import evolve

from hermes_core.testing.model_service import FakeSecrets
from hermes_core.types import Endpoint, Message, Request, Text
from hermes_openai_wire.entry import parse_entry
from hermes_openai_wire.line import open_line
from hermes_openai_wire.responses_input import responses_arguments

ROW = {
    "name": "acme",
    "title": "Acme",
    "summary": "Models.",
    "env": ["ACME_API_KEY"],
    "base_url": "https://acme.example/v1",
}
PROMPT = Message(role="system", parts=(Text(text="Be brief."),))
SAID = Message(role="user", parts=(Text(text="Hello."),))


def sent(messages, **row):
    entry = parse_entry({**ROW, **row}, where="acme.toml")
    line = open_line(entry, "acme", FakeSecrets(ACME_API_KEY="k"), Endpoint(name="acme"))
    request = Request(model="m", messages=messages, options={"max_tokens": 9, "temperature": 1})
    return responses_arguments(line, request, "m")


def test_the_prompt_goes_beside_the_conversation_where_the_service_wants_it():
    usual = sent((PROMPT, SAID))
    assert "instructions" not in usual
    assert [one["role"] for one in usual["input"]] == ["developer", "user"]
    beside = sent((PROMPT, SAID), instructions=True)
    assert beside["instructions"] == "Be brief."
    assert [one["role"] for one in beside["input"]] == ["user"]
    assert sent((SAID,), instructions=True)["instructions"]


def test_what_a_service_refuses_is_not_sent():
    assert {"max_output_tokens", "temperature"} <= sent((SAID,)).keys()
    assert not {"max_output_tokens", "temperature"} & sent((SAID,), unset=["max_output_tokens", "temperature"]).keys()


def test_a_row_that_is_wrong_is_told_with_its_field():
    with pytest.raises(ValueError, match=r"acme\.toml.*protocol"):
        parse_entry({**ROW, "protocol": "carrier pigeon"}, where="acme.toml")
    line = open_line(parse_entry(ROW, where="a"), "acme", FakeSecrets(ACME_API_KEY="k"), Endpoint(name="acme"))
    assert evolve(line, headers={"X-A": "1"}).request_headers()["x-a"] == "1"
