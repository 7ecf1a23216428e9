"""Runs the Hermes harness of verifiers for one rollout: its own ``harness.py``, ``program.py`` and ``runner.py``.

What they import of the rest of the package is types, which would bring machine learning along: those are empty here.
Words: its folder in verifiers, the folder of the rollout, the address of the model, that of an MCP server.
It prints the name of the home, and what the runner answers, as JSON.
"""

import asyncio
import json
import os
import sys
import types
from pathlib import Path
from typing import Any, Generic, TypeVar

PACKAGE, WORK, ENDPOINT, MCP = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], sys.argv[4]
ConfigT = TypeVar("ConfigT")


class ACPHarness(Generic[ConfigT]):
    """What harness.py wants of the one that verifiers has."""

    def __init__(self, version: str) -> None:
        self.config = types.SimpleNamespace(
            version=version, disabled_tools=[], use_bundled_skill=False, resolved_env={"PATH": os.environ["PATH"]}
        )

    async def setup(self, runtime: Any) -> None:
        """Nothing more."""

    async def install_skills(self, runtime: Any, folder: str) -> None:
        """There are none."""

    def resolve_prompt(self, data: Any) -> tuple[str, str]:
        """The prompts of the task."""
        return "Be brief.", data.prompt


class Runtime:
    """This machine. The install step is played before."""

    user = None

    async def write(self, path: str, data: bytes) -> None:
        """Write a file."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(data)


async def ensure_installed(runtime: Any, *, directory: str, ready: str, **_: Any) -> None:
    """What was installed instead is there."""
    assert (Path(directory) / ".ready").exists(), ready


def module(name: str, **names: Any) -> None:
    """Have a module of this name."""
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(names)


for one in ("", ".v1", ".v1.configs", ".v1.harnesses", ".v1.harnesses.utils"):
    module(f"verifiers{one}", __path__=[])
module("verifiers.v1.acp", ACPConfig=lambda **said: types.SimpleNamespace(**said), ACPHarness=ACPHarness)
module("verifiers.v1.clients", ModelContext=object)
module("verifiers.v1.configs.harness", HarnessConfig=object, PinnedVersion=str)
module("verifiers.v1.harnesses.utils.install", ensure_installed=ensure_installed, remove_dir=None)
module("verifiers.v1.runtimes", Runtime=object)
module("verifiers.v1.runtimes.base", _ENSURE_UV="")
module("verifiers.v1.task", TaskData=object)
module("verifiers.v1.trace", Trace=object)


async def main() -> None:
    """Play one rollout."""
    place = PACKAGE / "harnesses" / "hermes_agent" / "harness.py"
    names: dict[str, Any] = {"__file__": str(place), "__name__": "harness"}
    exec(compile(place.read_text(), str(place), "exec"), names)
    harness, runtime = names["HermesAgentHarness"](WORK.parent.name), Runtime()
    await harness.setup(runtime)
    context = types.SimpleNamespace(
        model="m", sampling=types.SimpleNamespace(max_tokens=256), client=types.SimpleNamespace(type="eval")
    )
    trace, data = types.SimpleNamespace(id=WORK.parent.name), types.SimpleNamespace(prompt="do it")
    made = await harness.prepare_acp(context, trace, runtime, ENDPOINT, "secret", {}, data)
    print(json.dumps({"home": made.env["HERMES_HOME"], "command": made.command[:2]}), flush=True)
    config = {
        "command": made.command, "client_capabilities": {}, "session_meta": {}, "mcp_headers": {},
        "mcp_urls": {"tools": MCP}, "system_prompt": made.system_prompt, "user_contents": [made.prompt],
        "tool_interception": None,
    }  # fmt: skip
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, PACKAGE / "acp" / "runner.py", stdin=pipe, stdout=pipe, cwd=WORK, env={**os.environ, **made.env}
    )
    packets = [{"id": 1, "operation": "prompt", "config": config}, {"id": 2, "operation": "shutdown"}]
    sent = b"".join(len(p := json.dumps(one).encode()).to_bytes(8, "big") + p for one in packets)
    out, _ = await process.communicate(sent)
    while out:
        size = int.from_bytes(out[:8], "big")
        print(out[8 : 8 + size].decode(), flush=True)
        out = out[8 + size :]


asyncio.run(main())
