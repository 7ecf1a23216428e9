"""Plugins made of a few lines, and a dispatch that calls their hooks."""

import asyncio
import types

from hermes_core.plugins.dispatch import Dispatch
from hermes_core.plugins.index import Installed
from hermes_core.plugins.manifest import parse_manifest
from hermes_core.types import Envelope, Message, Prompt, Question, Session, ToolCall

SESSION = Session(id="s", origin="cli")
CALL = ToolCall(id="1", name="now", arguments={})
QUESTION = Question(id="q", kind="approval", subject="rm")
ENVELOPE = Envelope(
    platform="p", account="a", event_id="1", chat="c", sender="s", message=Message(role="user", parts=())
)

PRELUDE = """
import asyncio
from hermes_core import hookimpl
from hermes_core.kinds import *
from hermes_core.types import *
"""
FOREVER = "await asyncio.Event().wait()"
LEAVING = f"""inside.set()
    try:
        {FOREVER}
    finally:
        outside.set()
"""
STUBBORN = f"""
    try:
        {FOREVER}
    except asyncio.CancelledError:
        {FOREVER}
"""


def plugin(label, code, *, uses=(), contributes=None, kernel=(), distribution=""):
    module = types.ModuleType(label.replace("/", "_"))
    module.seen = []
    module.inside, module.outside = asyncio.Event(), asyncio.Event()
    exec(PRELUDE + code, vars(module))
    kind, name = label.split("/")
    data = {"api": 1, "name": name, "kind": kind, "summary": "T.", "hooks": {"use": list(uses)}}
    data |= {"contributes": contributes or {}, "permissions": {"kernel": list(kernel)}}
    manifest = parse_manifest(data, where=label)
    owner = distribution or f"dist-{name}"
    return Installed(
        label=label, manifest=manifest, module=module.__name__, path="", distribution=owner, version="1"
    ), module


def dispatch(*plugins, builtin=(), **options):
    made = Dispatch(**options)
    for installed, module in plugins:
        installed.priority = installed.label not in builtin
        made.register(installed, module, None)
    return made


def gate(label, body):
    return plugin(label, f"@hookimpl\nasync def pre_tool_call(call):\n    {body}\n", uses=["pre_tool_call"])


def prompter(label, body, mark=""):
    code = f"@hookimpl{mark}\nasync def transform_prompt(prompt):\n    {body}\n"
    return plugin(label, code, uses=["transform_prompt"])


def adding(word):
    return f"return Prompt(blocks=[*prompt.blocks, PromptBlock(name='x', text={word!r})])"


def words(prompt):
    return [block.text for block in prompt.blocks]


async def transformed(*plugins, **options):
    made = dispatch(*plugins, **options)
    return words(await made.transform("transform_prompt", "prompt", Prompt(blocks=()), session=SESSION)), made


def asker(label, body):
    return plugin(label, f"@hookimpl\nasync def approve(question):\n    {body}\n", uses=["approve"])


def observer(label, body):
    return plugin(label, f"@hookimpl\nasync def on_session_start(session):\n    {body}\n", uses=["on_session_start"])


def tools(label, *names, declared=None, **more):
    code = "".join(f"@tool(name={n!r})\nasync def {n}() -> str:\n    '{label}'\n" for n in names)
    code += f"@hookimpl\ndef register_tools():\n    seen.append(1)\n    return [{', '.join(names)}]\n"
    return plugin(label, code, contributes={"tools": list(names) if declared is None else declared}, **more)
