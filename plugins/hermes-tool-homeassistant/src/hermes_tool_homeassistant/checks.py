"""What doctor may ask: whether Home Assistant answers, and whether a rule watches what is there."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.types import Check, Finding
from hermes_tool_homeassistant.client import TOKEN, Client
from hermes_tool_homeassistant.config import Config

__all__ = ["checks"]

_PATIENCE = 5.0  # seconds


def checks(ctx: PluginContext) -> Sequence[Check]:
    """One check."""

    async def run() -> Sequence[Finding]:
        config: Config = ctx.config or Config()
        if not ctx.secrets.get(TOKEN):
            text = "Home Assistant is not set up yet: there is no token"
            return [Finding(level="warning", text=text, fix=f"{ctx.program} setup homeassistant")]
        client = Client(config.url, ctx.secrets.get(TOKEN), _PATIENCE)
        try:
            await client.open()
            states = await client.ask("get_states")
        except HermesError as error:
            return [Finding(level="fault", text=error.text, fix=error.hint)]
        finally:
            await client.close()
        known = [str(one.get("entity_id")) for one in states or () if isinstance(one, dict)]
        findings = [Finding(level="ok", text=f"Home Assistant {client.version} answers, with {len(known)} entities")]
        for name, rule in config.rules.items():
            for pattern in rule.entities:
                if not any(fnmatchcase(one, pattern) for one in known):
                    text = f"the rule {name} watches {pattern}, which no entity is called"
                    findings.append(Finding(level="warning", text=text, fix="hermes config edit"))
        return findings

    return [Check(name="homeassistant", run=run)]
