"""The ``docker`` package, in the one place that imports it; imported where first used, because it is heavy."""

from docker import APIClient  # type: ignore[import-untyped]
from docker.context import ContextAPI  # type: ignore[import-untyped]
from docker.errors import APIError, DockerException, ImageNotFound, NotFound  # type: ignore[import-untyped]
from docker.types import Mount  # type: ignore[import-untyped]
from docker.utils import kwargs_from_env  # type: ignore[import-untyped]
from requests.exceptions import RequestException

__all__ = [
    "APIError",
    "Client",
    "ContextAPI",
    "DockerException",
    "ImageNotFound",
    "Mount",
    "NotFound",
    "RequestException",
    "kwargs_from_env",
]


class Client(APIClient):  # type: ignore[misc]
    """docker's client, without the environment's proxies and certificates: those are meant for the web.

    A REQUESTS_CA_BUNDLE would otherwise win over the authority that the daemon's certificate is from.
    """

    @property
    def trust_env(self) -> bool:
        """Never."""
        return False

    @trust_env.setter
    def trust_env(self, _: bool) -> None:
        pass
