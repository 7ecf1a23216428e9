"""Which room may import which, checked with import-linter. Plugins are found by globbing, so no list is kept."""

import subprocess
import sys
import tempfile
import tomllib
from graphlib import TopologicalSorter
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
    "own",
    "masking.watched",
]
THIRD_PARTY = "openai litellm textual mcp docker modal daytona httpx2 rich prompt_toolkit"


def main() -> int:
    """Write the contracts for what is here now and run import-linter. Returns its exit status."""
    packages = sorted(p for p in ROOT.glob("plugins/*/src/*") if (p / "__init__.py").exists())
    plugins = [p.name for p in packages if (p / "hermes-plugin.toml").exists()]
    libraries = [p.name for p in packages if p.name not in plugins]
    # A library is for plugins of its kind, the first words of its name (`hermes_paths`: for all), and for what names
    # it as a dependency.
    depended = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    foreign = [one for one in libraries if not any(w.startswith(one.replace("_", "-") + ">") for w in depended)]
    named = {p.name: _dependencies(p.name) for p in packages}
    strangers = {
        kit: [p for p in plugins if not p.startswith(kit.rpartition("_")[0]) and kit not in named[p]]
        for kit in libraries
    }
    rooms = sorted(
        p.stem
        for p in (ROOT / "hermes_core").iterdir()
        if p.suffix in ("", ".py") and p.stem not in ("testing", "__init__", "__pycache__", "py")
    )
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
# A room that stands nowhere here is a fault. The kits stand beside the house, and what starts it above.
exhaustive = true
exhaustive_ignores =
    testing
    __main__
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
    control
    brokers | slash
    platforms
    masking
    kinds | options | database
    codec | trace | notices
    types | errors
    environment
    values | modes | patterns | permissions | own | records

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
# The kits are what its commands are for; agents and products are programs on the kernel, as anybody's may be.
ignore_imports =
    hermes_tool_authoring.commands -> hermes_core.testing
    hermes_agent.* -> hermes_core.embed
    hermes_distribution.* -> hermes_core.embed
    hermes_distribution.brand -> hermes_core.own

[importlinter:contract:testing]
name = The kernel runs without its kits
type = forbidden
source_modules =
    {listed(f"hermes_core.{room}" for room in rooms)}
forbidden_modules =
    hermes_core.testing

[importlinter:contract:kernel]
name = The kernel imports no plugin, and no library that it does not depend on
type = forbidden
source_modules =
    hermes_core
forbidden_modules =
    {listed([*plugins, *foreign])}
    {listed(THIRD_PARTY.split())}

"""
    for library, below in _below(libraries).items():
        text += f"""
[importlinter:contract:{library}_alone]
name = {library} knows no library that its distribution does not name
type = forbidden
source_modules =
    {library}
forbidden_modules =
    {listed(other for other in libraries if other not in (library, *below))}
allow_indirect_imports = True
"""
    for kit, others in strangers.items():
        text += (
            ""
            if not others
            else f"""
[importlinter:contract:{kit}]
name = {kit} is used by its own kind, and by what names it
type = forbidden
source_modules =
    {listed(others)}
forbidden_modules =
    {kit}
allow_indirect_imports = True
"""
        )
        text += f"""
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


def _below(libraries: list[str]) -> dict[str, set[str]]:
    """The libraries that each one's distribution names. Raises CycleError where they go round."""
    named = {library: _dependencies(library) & set(libraries) for library in libraries}
    TopologicalSorter(named).prepare()
    return named


def _dependencies(package: str) -> set[str]:
    """What the distribution of a package names, as packages."""
    project = ROOT / "plugins" / package.replace("_", "-") / "pyproject.toml"
    wanted = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
    return {want.partition(">=")[0].partition("[")[0].replace("-", "_") for want in wanted}


if __name__ == "__main__":
    sys.exit(main())
