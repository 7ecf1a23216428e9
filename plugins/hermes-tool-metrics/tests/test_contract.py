"""The promises of every plugin, for metrics: hooks, a command and a route."""

from pathlib import Path

import hermes_tool_metrics
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import RoutesContract, plugin_context, serve
from hermes_core.types import Principal


class TestMetrics(RoutesContract):
    module = "hermes_tool_metrics"
    kind = "tool"


async def test_the_owner_reads_the_figures_and_nobody_else(tmp_path: Path) -> None:
    manifest = read_manifest(Path(hermes_tool_metrics.__file__).with_name("hermes-plugin.toml"))
    (route,) = hermes_tool_metrics.register_routes(plugin_context(manifest, tmp_path))
    read = await serve(route, owner=Principal())
    assert read.status == 200
    assert b"hermes_turns_running 0.0" in read.body
    assert (await serve(route, owner=Principal(person="telegram:2"))).status == 403
    assert (await serve(route, "POST", owner=Principal())).status == 405
