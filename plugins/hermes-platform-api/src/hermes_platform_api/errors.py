"""What is told to a client when something cannot be done, in the shape that OpenAI's or Anthropic's clients read."""

import re
from collections.abc import Callable, Mapping

from hermes_core.errors import HermesError, PluginError, ProviderError, UnknownName, UserError
from hermes_core.types import Failed

__all__ = ["ApiError", "of_error", "of_failure", "of_refused"]

_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
_ANTHROPIC = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large"}
# kinds of Failed: status and code. Any other is our own fault.
_KINDS: Mapping[str, tuple[int, str]] = {
    "user_error": (400, "bad_request"),
    "config_error": (500, "configuration_error"),
    "unknown_name": (404, "not_found"),
    "busy": (409, "session_busy"),
    "duplicate": (409, "duplicate_request"),
    "stale_lease": (409, "session_taken_over"),
    "budget_reached": (429, "budget_reached"),
    "context_too_long": (400, "context_length_exceeded"),
    "auth_error": (502, "model_auth_error"),
    "refused": (502, "model_refused"),
    "rate_limited": (503, "model_rate_limited"),
    "unavailable": (503, "model_unavailable"),
    "provider_error": (502, "model_error"),
    "not_permitted": (403, "not_permitted"),
}


class ApiError(Exception):
    """An answer that is no success: HTTP status, machine-readable code, text for people."""

    def __init__(
        self, status: int, code: str, message: str, *, param: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.param = status, code, message, param
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, object]:
        """The JSON document."""
        kind = _TYPES.get(self.status) or ("invalid_request_error" if self.status < 500 else "server_error")
        error = {"message": self.message, "type": kind, "param": self.param or None, "code": self.code}
        return {"error": error}

    @property
    def anthropic(self) -> dict[str, object]:
        """The same as Anthropic's clients read it. Its code is told beside its type."""
        kind = _ANTHROPIC.get(self.status) or ("invalid_request_error" if self.status < 500 else "api_error")
        kind = {429: "rate_limit_error", 503: "overloaded_error"}.get(self.status, kind)
        text = f"{self.param}: {self.message}" if self.param and self.param not in self.message else self.message
        return {"type": "error", "error": {"type": kind, "message": text, "code": self.code}}


def of_failure(failure: Failed) -> ApiError:
    """Why a turn failed. It is not to be tried again by itself: what it did so far is done."""
    status, code = _KINDS.get(failure.kind, (500, failure.kind or "internal_error"))
    text = f"{failure.text} {failure.hint}".strip()
    return ApiError(status, code, text, headers={"x-should-retry": "false", "x-hermes-error": code})


def of_refused(error: HermesError, masked: Callable[[str], str]) -> ApiError:
    """Why a turn could not begin, told as why one failed. ``masked`` takes secrets out of what it says."""
    kind = re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()
    return of_failure(Failed(kind=kind, text=masked(error.text), hint=masked(error.hint)))


def of_error(error: HermesError) -> ApiError:
    """What the kernel refused."""
    text = str(error).replace("\n", " ")
    if isinstance(error, UnknownName):
        return ApiError(404, "not_found", error.text)
    if type(error).__name__ == "Busy":
        return ApiError(409, "session_busy", text)
    if isinstance(error, UserError):
        return ApiError(400, "bad_request", text)
    status = 502 if isinstance(error, ProviderError) else 403 if isinstance(error, PluginError) else 503
    return ApiError(status, "unavailable" if status == 503 else "refused", text)
