"""Statements of the documents of plugins."""

import sqlalchemy as sa

from statements.tables import add, b, documents, equal, get, given, sessions

_SCOPE = ("plugin", "owner", "session_id")
_KEY = (*_SCOPE, "name")
_SHOWN = ("session_id", "name", "body", "version", "updated")

DOCUMENTS: dict[str, sa.Executable] = {
    "document_get": get(documents, *_SHOWN).where(*equal(documents, *_KEY)),
    "document_add": add(documents, *_KEY, "body", "version", "updated"),
    "document_put": sa.update(documents)
    .where(*equal(documents, *_KEY))
    .values({**given("body", "updated"), "version": documents.c.version + sa.literal_column("1")}),
    "document_drop": sa.delete(documents).where(*equal(documents, *_KEY)),
    "document_count": sa.select(sa.func.count()).select_from(documents).where(*equal(documents, *_SCOPE)),
    "documents_list": get(documents, *_SHOWN).where(*equal(documents, *_SCOPE)).order_by(documents.c.name),
    "documents_export": get(documents, *_SHOWN)
    .where(*equal(documents, "plugin", "owner"))
    .order_by(documents.c.session_id, documents.c.name),
    "documents_erase": sa.delete(documents).where(*equal(documents, "plugin", "owner")),
    "documents_of_session": get(documents, "plugin", "owner", "name", "body", "version", "updated").where(
        *equal(documents, "session_id")
    ),
    "documents_forget": sa.delete(documents).where(*equal(documents, "session_id")),
    "documents_sweep": sa.delete(documents).where(
        *equal(documents, "plugin", "owner"),
        documents.c.session_id != sa.literal_column("''"),
        documents.c.updated < b("before"),
        documents.c.session_id.not_in(sa.select(sessions.c.id)),
    ),
}
