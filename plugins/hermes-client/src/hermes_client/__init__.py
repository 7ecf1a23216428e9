"""A typed client for the API of a Hermes that runs.

async with Client("http://127.0.0.1:8642", key) as hermes:
    answer = await hermes.create_run({"input": "What is in my calendar today?"})
"""

from hermes_client.api import Client
from hermes_client.wire import ApiError, Event

__all__ = ["ApiError", "Client", "Event"]
