"""What the public suite wants a server to have, and Hermes has not: tools, prompts and resources that only test.

It is served as the plugin serves its own: by the manager of its route, below whatever serves HTTP in Hermes.
"""

import asyncio
import json
import struct
import zlib
from base64 import b64encode

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, MISSING_REQUIRED_CLIENT_CAPABILITY

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.project import manifest_path
from hermes_core.types import Principal
from hermes_platform_mcp_serve.ongoing import Ongoing
from hermes_platform_mcp_serve.skills import Skills
from hermes_platform_mcp_serve.tasks import Tasks, knows_tasks, needed

EMPTY = {"type": "object", "properties": {}}
BROAD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


PICTURE = b64encode(
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
).decode()
SOUND = b64encode(
    b"RIFF"
    + struct.pack("<I", 36)
    + b"WAVEfmt "
    + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    + b"data"
    + bytes(4)
).decode()


def text(words):
    return types.TextContent(type="text", text=words)


def picture():
    return types.ImageContent(type="image", data=PICTURE, mime_type="image/png")


def embedded(uri, words, kind="text/plain"):
    held = types.TextResourceContents(uri=uri, mime_type=kind, text=words)
    return types.EmbeddedResource(type="resource", resource=held)


def said(*content, failed=False):
    return types.CallToolResult(content=list(content), is_error=failed)


def form(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


def asks(message, **properties):
    params = types.ElicitRequestFormParams(message=message, requested_schema=form(**properties))
    return types.ElicitRequest(params=params)


def thinks(words, most):
    message = types.SamplingMessage(role="user", content=text(words))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=most))


STRING = {"type": "string"}


# --- tools of both revisions -----------------------------------------------------------------------------------------


async def logging(request, given):
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await request.session.send_log_message("info", words, related_request_id=request.request_id)
        await asyncio.sleep(0.05)
    return said(text("logged"))


async def progress(request, given):
    for at in (0, 50, 100):
        await request.session.report_progress(at, 100)
        await asyncio.sleep(0.05)
    return said(text("done"))


async def sampling(request, given):
    answer = await request.session.create_message(
        [types.SamplingMessage(role="user", content=text(given["prompt"]))],
        max_tokens=100,
        related_request_id=request.request_id,
    )
    return said(text(f"LLM response: {answer.content.text}"))


async def elicited(request, message, schema, words):
    answer = await request.session.elicit_form(message, schema, request.request_id)
    return said(text(f"{words}: action={answer.action}, content={json.dumps(answer.content)}"))


async def elicitation(request, given):
    return await elicited(request, given["message"], form(username=STRING, email=STRING), "User response")


async def defaults(request, given):
    schema = form(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return await elicited(request, "Who is it?", schema, "Elicitation completed")


async def enums(request, given):
    titled = [{"const": f"value{n}", "title": word} for n, word in enumerate(("First", "Second", "Third"), 1)]
    options = ["option1", "option2", "option3"]
    schema = form(
        untitledSingle={"type": "string", "enum": options},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": options}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    return await elicited(request, "Which?", schema, "Elicitation completed")


async def reconnection(request, given):
    if request.close_sse_stream is not None:
        await request.close_sse_stream()
    await asyncio.sleep(0.2)
    return said(text("It went on after the stream was closed."))


# --- results that want more input, of 2026-07-28 ---------------------------------------------------------------------


def wants(state=None, **requests):
    return types.InputRequiredResult(input_requests=requests or None, request_state=state)


def given_in(params, *names):
    """The answers to what was asked, where all of them are there and sound."""
    answers = params.input_responses or {}
    found = []
    for name in names:
        one = answers.get(name)
        if isinstance(one, types.ElicitResult) and not (one.action == "accept" and one.content):
            return None
        if one is None:
            return None
        found.append(one)
    return found


async def basic(params):
    found = given_in(params, "user_name")
    if not found or "name" not in (getattr(found[0], "content", None) or {}):
        return wants(user_name=asks("What is your name?", name=STRING))
    return said(text(f"Hello, {found[0].content['name']}!"))


async def thought(params):
    if not (found := given_in(params, "capital_question")):
        return wants(capital_question=thinks("What is the capital of France?", 100))
    return said(text(found[0].content.text))


async def rooted(params):
    if not (found := given_in(params, "client_roots")):
        return wants(client_roots=types.ListRootsRequest())
    return said(text(" ".join(str(one.uri) for one in found[0].roots)))


async def stateful(params):
    if not given_in(params, "confirm") or params.request_state != "asked":
        return wants("asked", confirm=asks("Please confirm", ok={"type": "boolean"}))
    return said(text("state-ok"))


async def several(params):
    if not given_in(params, "user_name", "greeting", "client_roots"):
        return wants(
            "asked",
            user_name=asks("What is your name?", name=STRING),
            greeting=thinks("Generate a greeting", 50),
            client_roots=types.ListRootsRequest(),
        )
    return said(text("all there"))


async def rounds(params):
    if params.request_state == "two" and given_in(params, "step2"):
        return said(text("both are there"))
    if params.request_state == "one" and given_in(params, "step1"):
        return wants("two", step2=asks("Step 2: What is your favorite color?", color=STRING))
    return wants("one", step1=asks("Step 1: What is your name?", name=STRING))


async def able(request, params):
    """Ask only for what the client says it can do."""
    can = request.session.client_capabilities
    requests = {}
    if can is not None and can.elicitation is not None:
        requests["user_name"] = asks("What is your name?", name=STRING)
    if can is not None and can.sampling is not None:
        requests["greeting"] = thinks("Generate a greeting", 50)
    if params.input_responses or not requests:
        return said(text("done"))
    return wants(**requests)


# --- what a request of 2026-07-28 says of its client ------------------------------------------------------------------


async def needing(request, params):
    can = request.session.client_capabilities
    if can is None or can.sampling is None:
        wanted = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "It needs sampling.", wanted)
    return said(text("there"))


async def streaming(request, params):
    await request.session.report_progress(1, 2)
    return await basic(params)


async def quiet(request, params):
    await request.session.send_log_message("info", "for who asked for it", related_request_id=request.request_id)
    return said(text("logged"))


BUS = InMemorySubscriptionBus()


async def changing(request, params):
    await BUS.publish(ToolsListChanged() if "tool" in params.name else PromptsListChanged())
    return said(text("changed"))


# --- tasks -----------------------------------------------------------------------------------------------------------

TASKS = Tasks(lambda _: Principal())


async def computed(_call, given):
    await asyncio.sleep(given.get("seconds", 0))
    return said(text(f"computed {given.get('label', '')}"))


async def failing(_call, _given):
    return said(text("it failed"), failed=True)


async def broken(_call, _given):
    raise RuntimeError("broken")


async def confirmed(call, given):
    answer = await call.ask("confirm", asks(f"Delete {given.get('filename')}?", confirm={"type": "boolean"}))
    return said(text(f"{answer['action']}"))


async def manifold(call, _given):
    one, two = await asyncio.gather(
        call.ask("one", asks("One?", name=STRING)), call.ask("two", asks("Two?", name=STRING))
    )
    return said(text(f"{one['action']}, {two['action']}"))


async def greeted(_call, given):
    return said(text(f"Hello, {given['name']}!"))


WORKS = {
    "slow_compute": computed,
    "failing_job": failing,
    "protocol_error_job": broken,
    "confirm_delete": confirmed,
    "multi_input": manifold,
    "test_tool_with_task": greeted,
}


async def begun(request, params):
    """Make a task of a call, where its client knows them; a few tools work in no other way."""
    given = params.arguments or {}
    if params.name == "test_tool_with_task":
        if not (found := given_in(params, "user_name")):
            return wants("asked", user_name=asks("What is your name?", name=STRING))
        given = {"name": found[0].content["name"]}
    if knows_tasks(request):
        return TASKS.take(Ongoing(Principal(), lambda call: WORKS[params.name](call, given)))
    if params.name in ("failing_job", "test_tool_with_task"):
        raise needed()
    return await WORKS[params.name](None, given)


TELLING = {
    "test_missing_capability": needing,
    "test_streaming_elicitation": streaming,
    "test_logging_tool": quiet,
    "test_trigger_tool_change": changing,
    "test_trigger_prompt_change": changing,
    "test_input_required_result_capabilities": able,
}
INPUTS = {
    "test_input_required_result_elicitation": basic,
    "test_input_required_result_sampling": thought,
    "test_input_required_result_list_roots": rooted,
    "test_input_required_result_request_state": stateful,
    "test_input_required_result_multiple_inputs": several,
    "test_input_required_result_multi_round": rounds,
    "test_input_required_result_tampered_state": stateful,
}
PLAIN = {
    "test_simple_text": lambda: said(text("This is a simple text response for testing.")),
    "test_image_content": lambda: said(picture()),
    "test_audio_content": lambda: said(types.AudioContent(type="audio", data=SOUND, mime_type="audio/wav")),
    "test_embedded_resource": lambda: said(
        embedded("test://embedded-resource", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": lambda: said(
        text("Multiple content types test:"),
        picture(),
        embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ),
    "test_error_handling": lambda: said(text("This tool intentionally returns an error for testing"), failed=True),
}
WORKING = {
    "test_tool_with_logging": (logging, EMPTY),
    "test_tool_with_progress": (progress, EMPTY),
    "test_sampling": (sampling, form(prompt=STRING)),
    "test_elicitation": (elicitation, form(message=STRING)),
    "test_elicitation_sep1034_defaults": (defaults, EMPTY),
    "test_elicitation_sep1330_enums": (enums, EMPTY),
    "test_reconnection": (reconnection, EMPTY),
}
HEADED = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "query": STRING},
    "required": ["region", "query"],
}


def tools():
    shapes = dict.fromkeys((*PLAIN, *INPUTS, *TELLING), EMPTY)
    shapes |= {name: shape for name, (_, shape) in WORKING.items()}
    shapes |= dict.fromkeys(WORKS, EMPTY) | {"greet": form(name=STRING)}
    shapes |= {"json_schema_2020_12_tool": BROAD, "test_custom_header": HEADED}
    return [types.Tool(name=name, description=f"Tests {name}.", input_schema=shape) for name, shape in shapes.items()]


async def call_tool(request, params):
    name = params.name
    if make := PLAIN.get(name):
        return make()
    if name in WORKING:
        return await WORKING[name][0](request, params.arguments or {})
    if name in INPUTS:
        return await INPUTS[name](params)
    if name in WORKS:
        return await begun(request, params)
    if name == "greet":
        return await greeted(None, params.arguments or {})
    if name in TELLING:
        return await TELLING[name](request, params)
    if name in ("json_schema_2020_12_tool", "test_custom_header"):
        return said(text(json.dumps(params.arguments)))
    raise MCPError(INVALID_PARAMS, f"Unknown tool: {name}")


# --- resources, prompts ----------------------------------------------------------------------------------------------

RESOURCES = {
    "test://static-text": "text/plain",
    "test://static-binary": "image/png",
    "test://watched-resource": "text/plain",
}


def read(uri):
    if uri == "test://static-binary":
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PICTURE)
    if uri.startswith("test://template/") and uri.endswith("/data"):
        number = uri.split("/")[3]
        data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))
    if uri not in RESOURCES:
        raise MCPError(INVALID_PARAMS, "Resource not found", {"uri": uri})
    words = "This is the content of the static text resource."
    return types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)


def prompts():
    named = {
        "test_simple_prompt": (),
        "test_prompt_with_arguments": ("arg1", "arg2"),
        "test_prompt_with_embedded_resource": ("resourceUri",),
        "test_prompt_with_image": (),
        "test_input_required_result_prompt": (),
    }
    return [
        types.Prompt(
            name=name,
            description=f"Tests {name}.",
            arguments=[types.PromptArgument(name=one, description=one, required=True) for one in wanted],
        )
        for name, wanted in named.items()
    ]


async def get_prompt(request, params):
    given = params.arguments or {}
    if params.name == "test_simple_prompt":
        content = [text("This is a simple prompt for testing.")]
    elif params.name == "test_prompt_with_arguments":
        content = [text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")]
    elif params.name == "test_prompt_with_embedded_resource":
        held = embedded(given["resourceUri"], "Embedded resource content for testing.")
        content = [held, text("Please process the embedded resource above.")]
    elif params.name == "test_prompt_with_image":
        content = [picture(), text("Please analyze the image above.")]
    elif params.name == "test_input_required_result_prompt":
        found = given_in(params, "user_context")
        if not found:
            return wants(user_context=asks("What context should the prompt use?", context=STRING))
        content = [text(f"In the context of {found[0].content['context']}")]
    else:
        raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=one) for one in content])


def skills(place):
    """What the plugin serves of two skills in a folder, one with more than its SKILL.md."""
    manifest = read_manifest(manifest_path("hermes_platform_mcp_serve"))
    for name, more in {"pdf-processing": {"references/FORMS.md": "Forms.\n"}, "writing": {}}.items():
        folder = place / "skills" / name
        held = {"SKILL.md": f"---\nname: {name}\ndescription: Work with {name}.\n---\n\nDo it.\n", **more}
        for path, words in held.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(words)
    ctx = plugin_context(manifest, place / "of-skills")
    return Skills(ctx, [str(place / "skills")], lambda _: ctx.owner)


def made(place):
    """The server; its skills lie in a folder in ``place``."""

    async def list_tools(_request, _params):
        return types.ListToolsResult(tools=tools())

    async def list_resources(_request, _params):
        found = [
            types.Resource(uri=uri, name=uri.partition("://")[2], description="Tests.", mime_type=kind)
            for uri, kind in RESOURCES.items()
        ]
        return types.ListResourcesResult(resources=found)

    async def list_templates(_request, _params):
        one = types.ResourceTemplate(uri_template="test://template/{id}/data", name="data", description="Tests.")
        return types.ListResourceTemplatesResult(resource_templates=[one])

    async def read_resource(_request, params):
        return types.ReadResourceResult(contents=[read(str(params.uri))])

    async def list_prompts(_request, _params):
        return types.ListPromptsResult(prompts=prompts())

    async def complete(_request, params):
        begun = params.argument.value
        values = [one for one in ("paris", "park", "party") if one.startswith(begun)]
        return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))

    async def nothing(_request, _params):
        return types.EmptyResult()

    public = CacheHint(ttl_ms=60_000, scope="public")
    cacheable = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
    server = Server(
        "suite",
        version="1",
        cache_hints={**dict.fromkeys(cacheable, public), "server/discover": public},
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=nothing,
        on_unsubscribe_resource=nothing,
        on_subscriptions_listen=ListenHandler(BUS),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=nothing,
    )
    TASKS.serve(server)
    own = {name: server.get_request_handler(name).handler for name in ("resources/list", "resources/read")}
    skills(place).serve(server)
    of_skills = {name: server.get_request_handler(name) for name in own}

    async def all_resources(request, params):
        found = (await own["resources/list"](request, params)).resources
        found += (await of_skills["resources/list"].handler(request, params)).resources
        return types.ListResourcesResult(resources=found)

    async def any_resource(request, params):
        name = "resources/read"
        return await (of_skills[name].handler if str(params.uri).startswith("skill:") else own[name])(request, params)

    for name, handler in (("resources/list", all_resources), ("resources/read", any_resource)):
        server.add_request_handler(name, of_skills[name].params_type, handler)
    server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="suite"))
    return server
