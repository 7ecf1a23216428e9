"""A script with one tool that has a database. Arguments: the model's URL, a folder."""

import sqlite3
import sys

from hermes_agent import Agent, Context
from hermes_core.types import Effect


def sell(shop: Context[sqlite3.Connection], item: str, count: int) -> str:
    """Sell some of an item."""
    shop.deps.execute("UPDATE stock SET count = count - ? WHERE item = ?", (count, item))
    return "sold"


database = sqlite3.connect(":memory:", check_same_thread=False)
database.execute("CREATE TABLE stock AS SELECT 'A1' AS item, 5 AS count")
model = {"providers.custom.base_url": sys.argv[1], "providers.custom.api_key": "x"}
with Agent(provider="custom", model="do", config=model, home=sys.argv[2], deps=database) as agent:
    agent.register_tool(sell, effects={Effect.REMEMBER})
    agent.run('sell {"item": "A1", "count": 2}')
assert database.execute("SELECT count FROM stock").fetchone() == (3,)
