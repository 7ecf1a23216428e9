"""The service, and the line to it: which region, at what address, by whose credentials."""

import re
from typing import TYPE_CHECKING

from attrs import field

from hermes_core.errors import UserError
from hermes_core.types import Endpoint
from hermes_core.values import frozen
from hermes_provider_bedrock.config import Config
from hermes_provider_bedrock.credentials import Credentials
from hermes_provider_kit.line import ServiceLine, reached
from hermes_provider_kit.listed import Listed
from hermes_provider_kit.transport import check_address, is_loopback

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["REGION", "SERVICE", "Line", "open_line"]

REGION = r"[a-z]{2}[a-z0-9-]{0,30}"

SERVICE = Listed(
    "bedrock",
    ("aws", "amazon"),
    10,
    ("AWS_BEARER_TOKEN_BEDROCK",),
    "https://bedrock-runtime.us-east-1.amazonaws.com",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    "global.anthropic.claude-sonnet-4-6",
)
SECONDS = 300.0  # models think for minutes, and say nothing meanwhile
_HOST = re.compile(r"//bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.")


@frozen
class _Known:
    """What is known of the service, as the library wants it."""

    name: str = SERVICE.name
    title: str = "Amazon Bedrock"
    aliases: tuple[str, ...] = SERVICE.aliases
    env: tuple[str, ...] = SERVICE.env
    signup: str = "https://console.aws.amazon.com/bedrock/home#/api-keys"
    base_url: str = SERVICE.base_url


@frozen(kw_only=True)
class Line(ServiceLine):
    """What the library's line has, with what this service signs by. ``cache`` is the setting of that name."""

    credentials: Credentials = field(repr=False)
    cache: str = "auto"

    @property
    def control_url(self) -> str:
        """Where models are listed: beside the address that runs them, or at that of one's own."""
        return re.sub(r"//bedrock-runtime(?=[.-])", "//bedrock", self.service.url)

    def url_of(self, model: str) -> str:
        """Make the address of a model's streamed conversation; a model may be an ARN."""
        from urllib.parse import quote

        return f"{self.service.url}/model/{quote(model, safe='')}/converse-stream"


def open_line(name: str, secrets: "SecretsBroker", endpoint: Endpoint | None, config: Config | None) -> Line:
    """Put together what is known and what the user says; the user wins.

    Raises:
        UserError: Another protocol is set, what is set is no address, or nobody says which region.
    """
    said, own = endpoint or Endpoint(name=name), config or Config()
    if said.protocol not in ("", "converse"):
        raise UserError(
            f"Provider {name} speaks the protocol Converse of Bedrock and no other; it is set to {said.protocol}.",
            hint=f"Remove protocol from providers.{name}.",
        )
    profile = own.profile or secrets.get("AWS_PROFILE")
    given = said.base_url or secrets.get(SERVICE.base_url_env)
    region = own.region or secrets.get("AWS_REGION") or secrets.get("AWS_DEFAULT_REGION")
    if not region and (found := _HOST.search(given)):
        region = found[1]
    if not region:
        from hermes_provider_bedrock.profiles import region_of

        region = region_of(profile)
    if not region:
        raise UserError(
            "Amazon Bedrock needs a region, and none is set.",
            hint="Set providers.bedrock.region, as in `hermes config set providers.bedrock.region us-east-1`.",
        )
    if not re.fullmatch(REGION, region):
        raise UserError(f"{region!r} is no region of AWS.", hint="Set providers.bedrock.region to one like us-east-1.")
    ending = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    given = given or f"https://bedrock-runtime.{region}.{ending}"
    url = check_address(name, given, endings=("/converse-stream", "/model"), example=SERVICE.base_url)
    hint = f"Check base_url, now {url}: /model/NAME/converse-stream is added to it."
    fields = reached(
        _Known(), name, secrets, said, url=url, local=is_loopback(url), usual_seconds=SECONDS, address_hint=hint
    )
    # A profile that was chosen wins over a key that only stands in the environment.
    bearer = "" if own.profile and not said.api_key else fields["service"].key
    credentials = Credentials(secrets, region=region, profile=profile, chosen=bool(own.profile), bearer=bearer)
    return Line(**fields, credentials=credentials, cache=own.cache)
