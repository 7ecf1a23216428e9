"""A script whose tools have what they need: a database, and no argument that a model could make up."""

import sqlite3

from hermes_agent import Agent, Context
from hermes_core.types import Effect


def sell(shop: Context[sqlite3.Connection], item: str, count: int = 1) -> dict[str, int]:
    """Sell some of an item.

    Args:
        item: Its name.
        count: How many.
    """
    with shop.deps:
        shop.deps.execute("UPDATE stock SET count = count - ? WHERE item = ? AND count >= ?", (count, item, count))
    return dict(shop.deps.execute("SELECT item, count FROM stock"))


database = sqlite3.connect("shop.db", check_same_thread=False)
database.executescript("CREATE TABLE IF NOT EXISTS stock (item TEXT PRIMARY KEY, count INTEGER)")
database.execute("INSERT OR REPLACE INTO stock VALUES ('A1', 5)")

with Agent(provider="offline", home="state", deps=database) as agent:
    agent.register_tool(sell, effects={Effect.REMEMBER})
    print(agent.run('use the tool sell with {"item": "A1", "count": 2}'))
