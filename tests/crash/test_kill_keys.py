"""Killed between any two statements while keys are noted: which rest, and until when, is known whole or not at all."""

import asyncio
from pathlib import Path

import pytest
from statement_deaths import stores_after

from hermes_backend_postgresql.driver import PostgreSQL
from hermes_core.errors import AuthError, RateLimited
from hermes_core.store.documents import Documents
from hermes_core.store.store import open_store
from hermes_core.types import Endpoint, EndpointKey
from hermes_provider_router.keys import Keys

pytestmark = pytest.mark.long

NOW, WAIT = 1_000.0, 60.0
ONE, TWO = (EndpointKey(source=f"env:KEY_{name}", value=f"the key {name}") for name in ("ONE", "TWO"))
ENDPOINT = Endpoint(name="acme", keys=(ONE, TWO), strategy="least_used")
GIVEN = {"acme": (ONE, TWO)}


def keys_of(store) -> Keys:
    return Keys(Documents(store.database, "provider/router"), Path("/nowhere"), clock=lambda: NOW)


async def play(store):
    """Use a key, have it rest, find the other one dead, and begin anew. What was done before is done again."""
    keys = keys_of(store)
    await keys.pick("acme", ENDPOINT)
    await keys.rest("acme", ONE, RateLimited("Too many.", retry_after=WAIT))
    await keys.rest("acme", TWO, AuthError("It was revoked.", permanent=True))
    await keys.reset(GIVEN, "all")


async def look(store):
    """What lists show of both."""
    return tuple((row.state, row.left, row.uses) for row in await keys_of(store).rows(GIVEN))


FRESH, RESTS, DEAD = ("ok", 0.0, 0), ("resting", WAIT, 1), ("dead", 3600.0, 0)
STATES = [(FRESH, FRESH), (("ok", 0.0, 1), FRESH), (RESTS, FRESH), (RESTS, DEAD), (("ok", 0.0, 1), FRESH)]


def test_a_death_leaves_what_is_known_of_keys_whole(tmp_path, kept_in, request):
    cluster = request.getfixturevalue("cluster") if kept_in == "postgresql" else None
    template = cluster.database() if cluster else ""
    first = tmp_path / "first.db"
    open_store(first, url=template, driver=PostgreSQL()).close()
    every = request.config.getoption("--every")
    seen = [asyncio.run(look(store)) for store in stores_after("test_kill_keys", first, cluster, template, every)]
    at = 0
    for state in seen:
        while STATES[at] != state:  # fails for one that is none of them, or comes too late
            at += 1
    assert at == len(STATES) - 1
    assert len(seen) > len(STATES)
