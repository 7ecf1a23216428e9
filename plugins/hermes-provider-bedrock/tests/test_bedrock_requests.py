"""What is sent is what the service takes, by its own description: turns, calls, thoughts, files, cache points."""

import base64
import json

import pytest

from hermes_core.errors import UserError
from hermes_core.types import Blob, Endpoint, Feature, Message, Reasoning, Request, Text, ToolCall, ToolResult, ToolSpec
from hermes_provider_bedrock.config import Config
from hermes_provider_bedrock.provider import Bedrock, all_providers
from hermes_provider_bedrock.thinking import thinking_fields

SPEC = ToolSpec(name="add", description="Add.", schema={"type": "object", "properties": {"a": {"type": "integer"}}})
POINT = {"cachePoint": {"type": "default"}}
CLAUDE, NOVA, LLAMA = "eu.anthropic.claude-sonnet-4-20250514-v1:0", "amazon.nova-pro-v1:0", "meta.llama3-70b-v1:0"
THOUGHT = {"reasoningContent": {"reasoningText": {"text": "I see.", "signature": "c2ln"}}}
LITTLE = {"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}}
BUDGET = {"thinking": {"type": "enabled", "budget_tokens": 4096}}
SEALED = {"reasoningContent": {"redactedContent": "YWI="}}


def system(text):
    return Message(role="system", parts=(Text(text=text),))


def user(*parts):
    return Message(role="user", parts=parts)


def thought(*blocks, key="bedrock"):
    return Reasoning(text="I see.", meta={key: {"blocks": list(blocks)}})


def called(*ids, before=()):
    calls = [ToolCall(id=one, name="add", arguments={"a": 1}) for one in ids]
    return Message(role="assistant", parts=(*before, Text(text="I add."), *calls))


def result(call_id, text, failed=False, *blobs):
    part = ToolResult(call_id=call_id, name="add", parts=(Text(text=text), *blobs), failed=failed)
    return Message(role="tool", parts=(part,))


@pytest.fixture
def body(at, wire):
    async def make(*messages, model=LLAMA, options=None, tools=(SPEC,), config=None, **endpoint):
        request = Request(model=model, messages=messages, tools=tools, options=options or {})
        made = json.loads(await at(config=config, **endpoint).body(request))
        assert not wire.problems(made)
        return made

    return make


async def test_turns_stand_as_the_service_wants_them(body):
    made = await body(
        system("Be terse."),
        user(Text(text="go")),
        called("1", "call.2|other"),
        user(Text(text="and now?")),
        result("1", "3"),
        result("call.2|other", "no", True),
        result("1", " "),
    )
    assert made["system"] == [{"text": "Be terse."}]
    assert [turn["role"] for turn in made["messages"]] == ["user", "assistant", "user"]
    _, first, second = made["messages"][1]["content"]
    assert first == {"toolUse": {"toolUseId": "1", "name": "add", "input": {"a": 1}}}
    renamed = second["toolUse"]["toolUseId"]
    assert renamed.startswith("call_")
    assert made["messages"][2]["content"] == [
        {"toolResult": {"toolUseId": "1", "content": [{"text": "3"}]}},
        {"toolResult": {"toolUseId": renamed, "content": [{"text": "It failed."}, {"text": "no"}]}},
        {"toolResult": {"toolUseId": "1", "content": [{"text": "(no output)"}]}},
        {"text": "and now?"},
    ]
    assert made["toolConfig"]["tools"] == [
        {"toolSpec": {"name": "add", "description": "Add.", "inputSchema": {"json": SPEC.schema}}}
    ]
    ended = await body(Message(role="assistant", parts=(Text(text=" "),)), model=NOVA)
    assert [turn["role"] for turn in ended["messages"]] == ["user"]
    failed = await body(user(Text(text="go")), called("1"), result("1", "no", True), model=NOVA)
    assert failed["messages"][2]["content"][0]["toolResult"]["status"] == "error"


async def test_tools_that_were_called_are_named_although_none_is_on_offer(body):
    made = await body(user(Text(text="go")), called("1"), result("1", "3"), tools=())
    assert [tool["toolSpec"]["name"] for tool in made["toolConfig"]["tools"]] == ["add"]
    assert "toolConfig" not in await body(user(Text(text="go")), tools=())


async def test_thoughts_go_back_untouched_and_in_their_order(body):
    between = thought(THOUGHT, {"text": 6}, SEALED, {"toolUse": "1"})
    made = await body(user(Text(text="go")), called("1", before=[between]), result("1", "3"), model=CLAUDE)
    call = {"toolUse": {"toolUseId": "1", "name": "add", "input": {"a": 1}}}
    assert made["messages"][1]["content"] == [THOUGHT, {"text": "I add."}, SEALED, call]
    changed = thought(THOUGHT, {"text": 99}, SEALED, {"toolUse": "1"})
    made = await body(user(Text(text="go")), called("1", before=[changed]), result("1", "3"), model=CLAUDE)
    assert made["messages"][1]["content"] == [THOUGHT, SEALED, {"text": "I add."}, call]
    others = thought(THOUGHT, key="anthropic")
    made = await body(user(Text(text="go")), called("1", before=[others]), result("1", "3"), model=CLAUDE)
    assert made["messages"][1]["content"] == [{"text": "I add."}, call]
    alone = Message(role="assistant", parts=(thought(THOUGHT),))
    made = await body(user(Text(text="go")), alone, user(Text(text="well?")), model=CLAUDE)
    assert [turn["role"] for turn in made["messages"]] == ["user"]


async def test_files_are_carried_or_named(body, tmp_path):
    (tmp_path / "a.png").write_bytes(b"png")
    picture = Blob(media_type="image/png", path=str(tmp_path / "a.png"))
    paper = Blob(media_type="application/pdf", data=b"pdf", name="Mein_Bericht  (1).pdf")
    gone = Blob(media_type="application/pdf", path=str(tmp_path / "b.pdf"), name="b.pdf")
    archive = Blob(media_type="application/zip", data=b"zip", name="c.zip")
    made = await body(user(picture, paper, paper, gone, archive), called("1"), result("1", "see", False, picture))
    encoded = {"image": {"format": "png", "source": {"bytes": base64.b64encode(b"png").decode()}}}
    first, second, third, fourth, fifth = made["messages"][0]["content"]
    assert first == encoded
    assert second["document"] == {
        "format": "pdf",
        "name": "Mein Bericht (1)",
        "source": {"bytes": base64.b64encode(b"pdf").decode()},
    }
    assert third["document"]["name"] == "Mein Bericht (1) 2"
    assert "cannot be read" in fourth["text"]
    assert fifth == {"text": "[file c.zip, application/zip]"}
    assert made["messages"][2]["content"][0]["toolResult"]["content"] == [{"text": "see"}, encoded]
    alone = await body(user(paper))
    assert [set(block) for block in alone["messages"][0]["content"]] == [{"document"}, {"text"}]


async def test_cache_points_stand_where_a_model_is_known_to_keep(body):
    said = [system("Be terse."), user(Text(text="a")), called("1"), result("1", "3"), called("2"), result("2", "4")]
    made = await body(*said, model=CLAUDE)
    assert made["system"][-1] == POINT
    assert made["toolConfig"]["tools"][-1] == POINT
    assert [POINT in turn["content"] for turn in made["messages"]] == [False, False, True, False, True]
    made = await body(*said, model=NOVA)
    assert made["system"][-1] == POINT
    assert POINT not in made["toolConfig"]["tools"]
    for model, how in ((LLAMA, "auto"), (CLAUDE, "off"), ("anthropic.claude-3-haiku-20240307-v1:0", "auto")):
        made = await body(*said, model=model, config=Config(region="eu-central-1", cache=how))
        assert "cachePoint" not in json.dumps(made), model
    made = await body(*said, model=LLAMA, config=Config(region="eu-central-1", cache="on"))
    assert made["system"][-1] == POINT


@pytest.mark.parametrize(
    ("model", "effort", "expected"),
    [
        (CLAUDE, "", {}),
        (CLAUDE, "none", {}),
        (CLAUDE, "high", {"thinking": {"type": "enabled", "budget_tokens": 20000}}),
        (
            "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
            "low",
            {"thinking": {"type": "enabled", "budget_tokens": 4096}},
        ),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "high", {}),
        ("global.anthropic.claude-sonnet-4-6", "", {}),
        (
            "global.anthropic.claude-sonnet-4-6",
            "xhigh",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        ),
        ("anthropic.claude-opus-5", "none", LITTLE),
        ("us.amazon.nova-2-lite-v1:0", "max", {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": "high"}}),
        (NOVA, "high", {}),
        ("openai.gpt-oss-120b-1:0", "minimal", {"reasoning_effort": "low"}),
        ("arn:aws:bedrock:eu-central-1:1:application-inference-profile/abc", "high", {}),
        (
            "arn:aws:bedrock:eu-central-1:1:inference-profile/eu.anthropic.claude-sonnet-4-20250514-v1:0",
            "minimal",
            {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        ),
    ],
)
def test_effort_is_said_in_the_words_of_the_model(model, effort, expected):
    assert thinking_fields(model, effort, 0) == expected


async def test_a_budget_for_thoughts_leaves_room_and_fits_the_calls_that_are_answered(body):
    made = await body(user(Text(text="go")), model=CLAUDE, options={"effort": "low", "temperature": 0.2})
    assert made["inferenceConfig"] == {"maxTokens": 4096 + 8192}
    made = await body(user(Text(text="go")), model=CLAUDE, options={"effort": "high", "max_tokens": 4000})
    assert made["additionalModelRequestFields"]["thinking"]["budget_tokens"] == 2000
    without = [user(Text(text="go")), called("1"), result("1", "3")]
    made = await body(*without, model=CLAUDE, options={"effort": "high"})
    assert "additionalModelRequestFields" not in made
    kept = [user(Text(text="go")), called("1", before=[thought(THOUGHT)]), result("1", "3")]
    made = await body(*kept, model=CLAUDE, options={"effort": "high"})
    assert "additionalModelRequestFields" in made


async def test_options_are_sent_and_extra_fields_are_laid_over(body):
    made = await body(
        user(Text(text="go")),
        options={"max_tokens": 99, "temperature": 5},
        extra_body={"inferenceConfig": {"topP": 0.5}, "serviceTier": {"type": "flex"}, "toolConfig": None},
    )
    assert made["inferenceConfig"] == {"maxTokens": 99, "temperature": 1, "topP": 0.5}
    assert made["serviceTier"] == {"type": "flex"}
    assert "toolConfig" not in made


async def test_models_are_those_that_run_here_and_the_profiles_that_lead_to_others(service, at, wire):
    base = {"responseStreamingSupported": True, "inputModalities": ["TEXT"]}
    new, old = "anthropic.claude-sonnet-4-6", "amazon.nova-micro-v1:0"
    rows = [
        {**base, "modelId": old, "inferenceTypesSupported": ["ON_DEMAND"]},
        {
            **base,
            "modelId": new,
            "inferenceTypesSupported": ["INFERENCE_PROFILE"],
            "inputModalities": ["TEXT", "IMAGE"],
        },
        {
            "modelId": "amazon.titan-embed",
            "inferenceTypesSupported": ["ON_DEMAND"],
            "responseStreamingSupported": False,
        },
    ]
    arn = "arn:aws:bedrock:eu-central-1::foundation-model/"
    own = "arn:aws:bedrock:eu-central-1:1:application-inference-profile/abc"
    pages = [
        {"inferenceProfileSummaries": [{"inferenceProfileId": f"eu.{new}", "models": [{"modelArn": arn + new}]}]},
        {
            "inferenceProfileSummaries": [
                {"inferenceProfileId": f"global.{new}", "models": [{"modelArn": arn + new}]},
                {"inferenceProfileArn": own, "type": "APPLICATION", "models": [{"modelArn": arn + old}]},
                {"inferenceProfileId": "eu.cohere.embed", "models": [{"modelArn": arn + "cohere.embed"}]},
            ]
        },
    ]
    pages[0]["nextToken"] = "a b+"
    replies = [{"modelSummaries": rows}, *pages]
    service.script = [wire.http(200, json.dumps(one)) for one in replies]
    models = await at().models()
    assert [one.name for one in models] == [f"global.{new}", old, f"eu.{new}", own]
    assert models[0].features == {Feature.TOOLS, Feature.IMAGES, Feature.REASONING}
    assert models[1].features == {Feature.TOOLS}
    assert service.asked[2].path.endswith("nextToken=a%20b%2B")
    service.script = [wire.http(200, json.dumps(replies[0])), wire.failed(403, "AccessDeniedException", "No.")]
    assert [one.name for one in await at().models()] == [old]


async def test_a_region_is_found_or_asked_for(keys, tmp_path, monkeypatch):
    def url(config=None, base_url="", **secrets):
        endpoint = Endpoint(name="bedrock", base_url=base_url)
        return Bedrock(keys(**secrets), endpoint=endpoint, config=config)._line().service.url

    host = "https://bedrock-runtime.{}.amazonaws.com"
    assert url(Config(region="eu-west-1"), AWS_REGION="us-west-2") == host.format("eu-west-1")
    assert url(AWS_REGION="us-west-2") == host.format("us-west-2")
    assert url(AWS_DEFAULT_REGION="cn-north-1") == host.format("cn-north-1") + ".cn"
    (tmp_path / "aws-config").write_text("[profile work]\nregion = eu-north-1\n")
    assert url(Config(profile="work")) == host.format("eu-north-1")
    assert url(base_url=host.format("sa-east-1")) == host.format("sa-east-1")
    with pytest.raises(UserError, match="needs a region"):
        url()
    assert Bedrock(keys()).window("m") == 0  # asked before anything is sent, and nothing is wrong yet
    with pytest.raises(UserError, match="no region of AWS"):
        url(AWS_REGION="evil.example/")
    with pytest.raises(UserError, match="cannot be used"):
        url(Config(profile="nobody"))
    with pytest.raises(UserError, match="no other"):
        Bedrock(keys()).at(Endpoint(name="bedrock", protocol="chat"))


async def test_only_its_own_name_is_chosen_by_itself_and_only_by_a_key_for_it(keys):
    bearer, account = keys(AWS_BEARER_TOKEN_BEDROCK="k"), keys(AWS_ACCESS_KEY_ID="a", AWS_SECRET_ACCESS_KEY="b")
    found = {one.name: await one.ready() for one in all_providers(bearer, {})}
    assert found == {"bedrock": True, "aws": False, "amazon": False}
    assert not await Bedrock(account).ready()
    assert await Bedrock(account, config=Config(profile="work")).ready()
