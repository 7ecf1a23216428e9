"""The plugin without a kernel: what it orders asks where somebody can answer, and is ordered once a week."""

import weekly

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context


async def test_a_week_is_ordered_once_and_asks_in_a_chat(tmp_path):
    ctx = plugin_context(read_manifest(weekly.__file__), tmp_path)
    await weekly.order(ctx, "2026-18")
    await weekly.order(ctx, "2026-18")
    [wanted] = [turn.order for turn in ctx.turns.ordered]
    assert (wanted.ask, wanted.hidden, wanted.bounds.grants) == ("all", True, ["terminal(git commit*)"])
