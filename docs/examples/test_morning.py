"""The plugin without a kernel: what it orders, and that it orders it once."""

import morning

from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context


async def test_a_day_is_looked_at_once(tmp_path):
    ctx = plugin_context(read_manifest(morning.__file__), tmp_path)
    await morning.look(ctx, "2026-05-01")
    await morning.look(ctx, "2026-05-01")
    await morning.look(ctx, "2026-05-02")
    assert [turn.order.event for turn in ctx.turns.ordered] == ["weather 2026-05-01", "weather 2026-05-02"]
    assert ctx.turns.ordered[0].order.bounds.tools == ["web"]
