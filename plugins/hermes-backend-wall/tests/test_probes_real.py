"""Every probe, behind every wall."""

import pytest

from hermes_backend_kit.probes import PROBES
from hermes_backend_kit.proof import proved
from hermes_backend_local.backend import Local

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]


async def test_nothing_gets_through(plan, kind, person):
    proof = await proved(Local(plan=plan), person / ".hermes")
    assert proof.wall.name == kind
    assert len(proof.tried) == len(PROBES)
    assert proof.through == []


async def test_what_is_not_put_back_is_seen(plan, kind, person, monkeypatch):
    """A probe that cannot find anything proves nothing."""
    from hermes_backend_wall.protected import Protected

    monkeypatch.setattr(Protected, "compare", lambda _: "")
    kept = [probe for probe in PROBES if probe.file and probe.file != ".git/config"]
    proof = await proved(Local(plan=plan), person / ".hermes", kept)
    assert proof.through == [probe.text for probe in kept]
