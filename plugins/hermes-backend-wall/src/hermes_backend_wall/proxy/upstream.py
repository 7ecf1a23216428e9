"""The proxy that a person's own network may stand behind: many companies have no other way out.

Read of the variables that curl, git, pip and others heed.
"""

import base64
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from attrs import field, frozen

from hermes_core.errors import UserError
from hermes_tool_kit.addresses import CheckedUrl

__all__ = ["Upstream", "Upstreams"]


@frozen(kw_only=True)
class Upstream:
    """A proxy by HTTP. ``authorization`` is what ``Proxy-Authorization`` says, a secret, or nothing."""

    host: str
    port: int
    authorization: str = field(default="", repr=False)

    @classmethod
    def read(cls, url: str, name: str) -> "Upstream":
        """The proxy at a URL (``http://user:password@proxy.corp:3128``) of the variable ``name``. Raises UserError."""
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            port = parts.port
        except ValueError:
            raise UserError(f"{name} holds no address of a proxy.", hint="Write http://host:port.") from None
        if parts.scheme != "http" or not parts.hostname:
            raise UserError(
                f"{name} names a proxy that is not spoken to by HTTP.", hint=f"Set {name} to http://host:port."
            )
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
        secret = base64.b64encode(login.encode()).decode() if login else ""
        return cls(host=parts.hostname, port=port or 80, authorization=f"Basic {secret}" if secret else "")


class Upstreams:
    """Which proxy of the person a connection goes through. Raises UserError where a variable cannot be read."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._by_scheme: dict[str, Upstream | None] = {}
        for scheme, names in {"https": ("https_proxy", "HTTPS_PROXY"), "http": ("http_proxy", "HTTP_PROXY")}.items():
            name = next((n for n in (*names, "all_proxy", "ALL_PROXY") if environment.get(n)), "")
            self._by_scheme[scheme] = Upstream.read(environment[name], name) if name else None
        direct = environment.get("no_proxy") or environment.get("NO_PROXY", "")
        self._direct = [name.strip().lower().lstrip("*.") or name.strip() for name in direct.split(",") if name.strip()]

    def __call__(self, target: CheckedUrl) -> Upstream | None:
        """The proxy for a target; None where the way is direct."""
        for name in self._direct:
            host, _, port = name.rpartition(":") if name.count(":") == 1 else (name, "", "")
            same = host == "*" or target.host == host or target.host.endswith(f".{host}")
            if same and port in ("", str(target.port)):
                return None
        return self._by_scheme[target.scheme]
