"""A database in memory for each session: what one call put in, the next one finds."""

# /// hermes
# api = 1
# name = "scratch"
# kind = "tool"
# summary = "A scratch database for each session."
#
# [contributes]
# tools = ["sql"]
# resources = ["scratch"]
# ///

import sqlite3

from attrs import frozen

from hermes_core import hookimpl
from hermes_core.errors import ToolError
from hermes_core.kinds import Resource, ToolContext, tool


@frozen
class Query:
    statement: str


@tool
async def sql(context: ToolContext, query: Query) -> str:
    """Run a statement of SQLite in a scratch database, which lasts as long as this session."""
    database = await context.resource("scratch")
    try:
        return "\n".join(map(str, database.execute(query.statement))) or "Done."
    except sqlite3.Error as error:
        raise ToolError(f"SQLite says: {error}") from error


class Scratch(Resource):
    """Opened at the first statement, closed after an hour without one."""

    name, idle = "scratch", 3600.0

    async def open(self, session, workspace):
        return sqlite3.connect(":memory:")

    async def close(self, thing):
        thing.close()

    def describe(self, thing):
        return f"a scratch database, {thing.total_changes} changes"


@hookimpl
def register_tools():
    return [sql]


@hookimpl
def register_resources():
    return [Scratch()]
