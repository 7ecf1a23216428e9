"""Where the models of a service answer: its row, or what the person says of a project or a resource of their own."""

import re
from typing import TYPE_CHECKING

from hermes_core.errors import UserError

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_login.service import LoginService
    from hermes_openai_wire.entry import Entry

__all__ = ["keep_to_its_hosts", "place_of"]

_PART = re.compile(r"[a-z0-9][a-z0-9.:-]{0,62}")  # a project or a region of Google
_MENDS = {
    "azure-foundry": "https://RESOURCE.openai.azure.com/openai/v1",
    "vertex": "https://aiplatform.googleapis.com/v1/projects/PROJECT/locations/global/endpoints/openapi",
}


def place_of(ctx: "PluginContext", service: "LoginService", entry: "Entry") -> str:
    """Return the address of a service. Raises UserError where nobody said it, or it gets no tokens."""
    said = ctx.secrets.get(entry.base_url_env) if entry.base_url_env else ""
    url = said or entry.base_url or (_of_project(ctx) if service.name == "vertex" else "")
    if not url:
        shown = _MENDS.get(service.name, "https://models.example.org/v1")
        raise UserError(
            f"{service.title} is somewhere else for everybody, and nobody said where.",
            hint=f"{ctx.program} config set subscriptions.services.{service.name}.base_url {shown}",
        )
    keep_to_its_hosts(service, url)
    return url


def keep_to_its_hosts(service: "LoginService", url: str) -> None:
    """Refuse to send tokens to anybody else. Raises UserError."""
    if not service.may_have_tokens(url):
        raise UserError(
            f"{url} is no address of {service.title}, so it gets no token.",
            hint=f"Its hosts are {', '.join(service.hosts)}; others are named in "
            f"subscriptions.services.{service.name}.hosts.",
        )


def _of_project(ctx: "PluginContext") -> str:
    project, region = ctx.secrets.get("VERTEX_PROJECT_ID"), ctx.secrets.get("VERTEX_REGION") or "global"
    if not project:
        return ""
    for name, value in (("VERTEX_PROJECT_ID", project), ("VERTEX_REGION", region)):
        if not _PART.fullmatch(value):
            raise UserError(f"{name} is no name of Google's: {value!r}.")
    host = "aiplatform.googleapis.com" if region == "global" else f"{region}-aiplatform.googleapis.com"
    return f"https://{host}/v1/projects/{project}/locations/{region}/endpoints/openapi"
