"""The ``docker`` package, in the one place that imports it; imported where first used, because it is heavy."""

from docker import APIClient  # type: ignore[import-untyped]
from docker.context import ContextAPI  # type: ignore[import-untyped]
from docker.errors import APIError, DockerException, ImageNotFound, NotFound  # type: ignore[import-untyped]
from docker.types import Mount  # type: ignore[import-untyped]
from docker.utils import kwargs_from_env  # type: ignore[import-untyped]
from requests.exceptions import RequestException

__all__ = [
    "APIClient",
    "APIError",
    "ContextAPI",
    "DockerException",
    "ImageNotFound",
    "Mount",
    "NotFound",
    "RequestException",
    "kwargs_from_env",
]
