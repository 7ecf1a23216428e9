"""Which room may import which, checked with import-linter. Plugins are found by globbing, so no list is kept."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PRIVATE = [
    "plugins",
    "config",
    "store",
    "agent",
    "cli",
    "hermes",
    "product",
    "distribution",
    "embed",
    "testing",
]
THIRD_PARTY = "openai litellm textual mcp docker modal daytona httpx2 rich prompt_toolkit"


def main() -> int:
    """Write the contracts for what is here now and run import-linter. Returns its exit status."""
    packages = sorted(p for p in ROOT.glob("plugins/*/src/*") if (p / "__init__.py").exists())
    plugins = [p.name for p in packages if (p / "hermes-plugin.toml").exists()]
    libraries = [p.name for p in packages if p.name not in plugins]
    # A library is for the plugins of its kind, the first words of its name.
    strangers = {kit: [p for p in plugins if not p.startswith(kit.rpartition("_")[0])] for kit in libraries}
    listed = "\n    ".join
    text = f"""
[importlinter]
root_packages =
    hermes_core
    {listed([*plugins, *libraries])}
include_external_packages = True
exclude_type_checking_imports = True

[importlinter:contract:layers]
name = The kernel's rooms import only downward
type = layers
containers = hermes_core
layers =
    embed
    distribution
    cli
    hermes
    agent
    product
    plugins
    store | config
    hooks
    context
    host
    brokers | control | slash
    closed
    places | platforms | autorun
    masking
    kinds | options | tables | database | contents
    codec | trace | notices
    types | errors
    environment
    values | modes

[importlinter:contract:independence]
name = No plugin knows another plugin
type = independence
modules =
    {listed(plugins)}

[importlinter:contract:ground_floor]
name = Plugins and libraries stand on the ground floor only
type = forbidden
source_modules =
    {listed([*plugins, *libraries])}
forbidden_modules =
    {listed(f"hermes_core.{room}" for room in PRIVATE)}
allow_indirect_imports = True

[importlinter:contract:kernel]
name = The kernel imports no plugin and no heavy library of one
type = forbidden
source_modules =
    hermes_core
forbidden_modules =
    {listed([*plugins, *libraries])}
    {listed(THIRD_PARTY.split())}

[importlinter:contract:libraries]
name = No library knows a plugin or another library
type = independence
modules =
    {listed(libraries)}
"""
    for kit, others in strangers.items():
        text += f"""
[importlinter:contract:{kit}]
name = {kit} is used by its own kind, and knows no plugin
type = forbidden
source_modules =
    {listed(others)}
forbidden_modules =
    {kit}

[importlinter:contract:{kit}_below]
name = {kit} stands below its plugins
type = forbidden
source_modules =
    {kit}
forbidden_modules =
    {listed(plugins)}
"""
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as file:
        file.write(text)
        file.flush()
        return subprocess.run(["lint-imports", "--config", file.name, "--no-cache"], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
