"""An authorization server, and a service that logs in there."""

import pytest

from hermes_core.testing.model_service import model_service
from hermes_login.kept import Logins
from hermes_login.renewing import Login
from hermes_login.service import parse_service
from hermes_login.testing import AuthServer


@pytest.fixture
async def server():
    """A running authorization server."""
    async with model_service("") as service:
        made = AuthServer(service, service.url)
        made.install()
        yield made


@pytest.fixture
def acme(server):
    """``acme(flow="browser")``: the service as a row says it."""
    return lambda **over: parse_service(server.row(**over), where="acme.toml")


@pytest.fixture
def logins(tmp_path):
    return Logins(tmp_path / "logins")


@pytest.fixture
def login(acme, logins):
    """``login()``: the account ``default`` there, opened anew as another process does."""
    return lambda **over: Login(acme(**over), logins, "default", again="hermes auth login acme")
