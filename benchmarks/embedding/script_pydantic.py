"""A script with one tool that has a database. Arguments: the model's URL, a folder (which it does not need)."""

import sqlite3
import sys

from pydantic_ai import Agent, RunContext
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

database = sqlite3.connect(":memory:", check_same_thread=False)
database.execute("CREATE TABLE stock AS SELECT 'A1' AS item, 5 AS count")
model = OpenAIChatModel("do", provider=OpenAIProvider(base_url=sys.argv[1], api_key="x"))
agent = Agent(model, deps_type=sqlite3.Connection)


@agent.tool
def sell(shop: RunContext[sqlite3.Connection], item: str, count: int) -> str:
    """Sell some of an item."""
    shop.deps.execute("UPDATE stock SET count = count - ? WHERE item = ?", (count, item))
    return "sold"


agent.run_sync('sell {"item": "A1", "count": 2}', deps=database)
assert database.execute("SELECT count FROM stock").fetchone() == (3,)
