"""Every probe, behind every wall."""

import pytest

from hermes_backend_kit.probes import PROBES
from hermes_backend_kit.proof import proved
from hermes_backend_local.workspace import Local

pytestmark = [pytest.mark.real, pytest.mark.timeout(180)]


async def test_nothing_gets_through(plan, kind, person):
    proof = await proved(Local(plan=plan), person / ".hermes")
    assert proof.wall.name == kind
    assert len(proof.tried) == len(PROBES)
    assert proof.through == []
