"""The schema of an answer as services take it."""

from hermes_core.types import Message, Request, Text
from hermes_provider_kit.shape import named, wanted

PLACE = {"type": "object", "properties": {"name": {"type": "string"}, "people": {"type": "integer"}}}
LAX = [
    {**PLACE, "required": ["name"]},
    {**PLACE, "required": ["name", "people"], "additionalProperties": True},
    {"type": "object", "additionalProperties": {"type": "integer"}},
    {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"type": "array", "prefixItems": [PLACE]}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"anyOf": [PLACE, {"type": "null"}]}}, "required": ["a"]},
]


def test_it_is_strict_where_all_is_needed():
    whole = {**PLACE, "required": ["name", "people"]}
    made = named({"type": "object", "properties": {"default": whole}, "required": ["default"]})
    inner = {**whole, "additionalProperties": False}
    outer = {"type": "object", "properties": {"default": inner}, "required": ["default"]}
    assert made == {"name": "answer", "strict": True, "schema": {**outer, "additionalProperties": False}}


def test_what_strict_mode_would_refuse_goes_as_it_is():
    for schema in LAX:
        assert named(schema) == {"name": "answer", "strict": False, "schema": schema}


def test_what_a_service_refuses_beside_a_reference_and_as_a_format_is_left_out():
    ref = {"$ref": "#/$defs/Place"}
    fields = {"a": {**ref, "description": "a town"}, "format": {"type": "string", "format": "path"}}
    schema = {"type": "object", "properties": fields, "required": ["a", "format"], "$defs": {"Place": PLACE}}
    asked = wanted(Request(model="m", messages=(), options={"schema": schema}))
    assert asked == {**schema, "properties": {**fields, "a": ref}}
    asked["$defs"]["Place"] |= {"required": ["name", "people"]}
    made = named(asked)
    assert made["strict"] is True
    assert made["schema"]["properties"] == {"a": ref, "format": {"type": "string"}}


def test_any_text_will_do_where_nothing_is_said():
    said = (Message(role="user", parts=(Text(text="hi"),)),)
    assert wanted(Request(model="m", messages=said)) == {}
    assert wanted(Request(model="m", messages=said, options={"schema": PLACE})) == PLACE
