"""Who asks: an API key of Bedrock, keys of an account, or what a profile leads to; and requests signed by it.

Signing is AWS's Signature Version 4, by AWS's library; so is the way from a profile to keys (roles, single sign-on,
containers, machines), which may ask services of AWS, and is gone in a thread.
"""

import asyncio
import logging
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hermes_core.errors import AuthError

if TYPE_CHECKING:
    from hermes_core.brokers import SecretsBroker

__all__ = ["Credentials"]

NONE = "Amazon Bedrock needs credentials, and none are set."
WAYS = (
    "Set AWS_BEARER_TOKEN_BEDROCK to an API key of Bedrock (https://console.aws.amazon.com/bedrock/home#/api-keys), or "
    "providers.bedrock.profile to a profile of ~/.aws, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
)
AGAIN = "Log in again (`aws sso login`, `aws login`), or see providers.bedrock.profile."


class Credentials:
    """Those of one line.

    ``bearer`` is an API key of Bedrock, and wins over all else. A profile that is ``chosen`` comes next, then the
    account's keys, then the profile of the environment, then what this machine has: AWS's own order.
    """

    def __init__(self, secrets: "SecretsBroker", *, region: str, profile: str, chosen: bool, bearer: str) -> None:
        self.region = region
        self._secrets, self._profile, self._chosen, self._bearer = secrets, profile, chosen, bearer
        self._chain: Any = None  # what the library found; it renews itself what expires
        self._lock = threading.Lock()  # one log-in at a time; the others take what it found

    async def signed(self, method: str, url: str, data: bytes, headers: Mapping[str, str]) -> dict[str, str]:
        """Give the headers of a request with what says who asks.

        Args:
            method: ``GET`` or ``POST``.
            url: The whole address, with its query, escaped as it is sent.
            data: The body.
            headers: Those of the request, their names in lower case; one that has ``authorization`` stays as it is.

        Raises:
            AuthError: There are no credentials, or they cannot be renewed.
            UserError: The profile cannot be read.
        """
        if "authorization" in headers:
            return dict(headers)
        if self._bearer:
            return {**headers, "authorization": f"Bearer {self._bearer}"}
        keys = await self._keys()
        silence()
        from botocore.auth import SigV4Auth  # type: ignore[import-untyped]
        from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]

        # Not all headers are signed: a proxy may change some on the way.
        request = AWSRequest(method, url, data=data, headers={"content-type": headers["content-type"]})
        SigV4Auth(keys, "bedrock", self.region).add_auth(request)
        return {**headers, **{name.lower(): str(value) for name, value in request.headers.items()}}

    async def _keys(self) -> Any:
        """Give the keys as they are now. Raises AuthError, UserError."""
        key, secret = self._secrets.get("AWS_ACCESS_KEY_ID"), self._secrets.get("AWS_SECRET_ACCESS_KEY")
        if key and secret and not self._chosen:
            from botocore.credentials import ReadOnlyCredentials  # type: ignore[import-untyped]

            return ReadOnlyCredentials(key, secret, self._secrets.get("AWS_SESSION_TOKEN") or None)
        return await asyncio.to_thread(self._found)

    def _found(self) -> Any:
        from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

        from hermes_provider_bedrock.profiles import session_of

        silence()
        try:
            with self._lock:
                if self._chain is None:
                    self._chain = session_of(self._profile).get_credentials()
                found = self._chain.get_frozen_credentials() if self._chain else None
        except (BotoCoreError, ClientError, ValueError) as error:
            why = " ".join(str(error).split())[:300]
            raise AuthError(f"The credentials of AWS cannot be had: {why}", hint=AGAIN) from None
        if found is None or not found.access_key or not found.secret_key:
            raise AuthError(NONE, hint=WAYS)
        return found


def silence() -> None:
    """Keep what the library notes for its own authors out of any log: it holds tokens, and what services answered."""
    logging.getLogger("botocore").setLevel(logging.INFO)
