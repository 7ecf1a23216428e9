"""What Bedrock writes and what it checks: frames, signatures, requests by the service's own description."""

import hashlib
import hmac
import json
import struct
from binascii import crc32
from functools import cache
from typing import Any
from urllib.parse import quote, urlsplit

from hermes_core.testing.model_service import http

USAGE = {"inputTokens": 11, "outputTokens": 5, "totalTokens": 16}
SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # of AWS's own examples
STREAM = "application/vnd.amazon.eventstream"


def frame(name: str, body: object, kind: str = "event") -> bytes:
    """One frame, as the service writes it."""
    heads = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
    return raw_frame(heads, json.dumps(body).encode())


def raw_frame(heads: dict[str, str], payload: bytes) -> bytes:
    """One frame of any headers and bytes."""
    written = b"".join(
        bytes([len(key)]) + key.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
        for key, value in heads.items()
    )
    prelude = struct.pack(">II", 16 + len(written) + len(payload), len(written))
    prelude += struct.pack(">I", crc32(prelude))
    whole = prelude + written + payload
    return whole + struct.pack(">I", crc32(whole))


def block(index: int, *deltas: dict[str, object], start: dict[str, object] | None = None) -> bytes:
    """The frames of one block of content."""
    made = frame("contentBlockStart", {"contentBlockIndex": index, "start": start}) if start else b""
    made += b"".join(frame("contentBlockDelta", {"contentBlockIndex": index, "delta": one}) for one in deltas)
    return made + frame("contentBlockStop", {"contentBlockIndex": index})


def call(index: int, call_id: str, name: str, *pieces: str) -> bytes:
    """The frames of a call of a tool."""
    start = {"toolUse": {"toolUseId": call_id, "name": name}}
    return block(index, *({"toolUse": {"input": piece}} for piece in pieces), start=start)


def reply(*blocks: bytes, reason: str = "end_turn", usage: object = USAGE) -> bytes:
    """The frames of a whole reply."""
    end = frame("messageStop", {"stopReason": reason}) + frame("metadata", {"usage": usage, "metrics": {}, "p": "abc"})
    return frame("messageStart", {"role": "assistant"}) + b"".join(blocks) + end


def streamed(frames: bytes) -> bytes:
    """An HTTP reply that holds frames."""
    return http(200, frames, STREAM)


def failed(status: int, kind: str, message: str) -> bytes:
    """An HTTP reply that says what failed."""
    return http(status, json.dumps({"message": message}), x_amzn_errortype=f"{kind}:http://internal.amazon.com/coral/")


def signature_of(asked: Any, secret: str = SECRET) -> str:
    """The signature that a request should have, written from AWS's description of Signature Version 4."""
    told = dict(part.split("=", 1) for part in asked.headers["authorization"].split(" ", 1)[1].split(", "))
    _, day, region, service, end = told["Credential"].split("/")
    parts = urlsplit(asked.path)
    query = "&".join(sorted(parts.query.split("&"))) if parts.query else ""
    heads = "".join(f"{name}:{asked.headers[name]}\n" for name in told["SignedHeaders"].split(";"))
    body = hashlib.sha256(asked.raw).hexdigest()
    canonical = "\n".join([asked.method, quote(parts.path, safe="/-_.~"), query, heads, told["SignedHeaders"], body])
    scope = f"{day}/{region}/{service}/{end}"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{secret}".encode()
    for word in (day, region, service, end):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    text = f"AWS4-HMAC-SHA256\n{asked.headers['x-amz-date']}\n{scope}\n{digest}"
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


@cache
def _shape() -> Any:
    from botocore.loaders import Loader
    from botocore.model import ServiceModel

    model = ServiceModel(Loader().load_service_model("bedrock-runtime", "service-2"), "bedrock-runtime")
    return model.operation_model("ConverseStream").input_shape


def problems(body: dict[str, object]) -> str:
    """What AWS's own description of the service has against a body; empty when it has nothing."""
    from botocore.validate import ParamValidator

    report: str = ParamValidator().validate({"modelId": "m", **body}, _shape()).generate_report()
    return report
