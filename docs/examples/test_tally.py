"""The counts belong to a person and outlive a conversation; tested without a store."""

import tally as plugin

from hermes_core.testing import FakeDocuments, FakeToolContext, FakeWorkspace
from hermes_core.types import Principal, Session


class Context:
    documents = FakeDocuments()


async def test_counts_are_kept_for_each_person(tmp_path):
    (tool,) = plugin.register_tools(Context)
    said = []
    for session, person in (("a", "hana"), ("b", "hana"), ("c", "ben")):
        whose = Session(id=session, origin="cli", owner=Principal(person=person))
        context = FakeToolContext(FakeWorkspace(folder=tmp_path), session=whose)
        said.append(await tool.run(context, plugin.Tally(what="walks")))
    assert said == ["walks: 1", "walks: 2", "walks: 1"]
