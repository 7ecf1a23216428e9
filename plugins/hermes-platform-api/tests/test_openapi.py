"""The document that is served is true: fuzzed from itself, against a server that runs."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hermes_core.testing import FakeConsole
from hermes_platform_api.openapi import document
from hermes_platform_api.platform import Api

FUZZ = """
import os
import requests
import schemathesis
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance
from hypothesis import HealthCheck, Phase, settings, seed

session = requests.Session()  # connections are kept, and the environment is read once
session.trust_env = False
session.headers["Authorization"] = "Bearer " + os.environ["KEY"]
schema = schemathesis.openapi.from_url(os.environ["URL"] + "/openapi.json")
@schema.parametrize()
@seed(1)
@settings(max_examples=int(os.environ["CASES"]), deadline=None, database=None, derandomize=True,
          suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate])
def test_api(case):
    response = case.call(session=session)
    # What a schema cannot say of a request is refused by a code of its own.
    said = response.json().get("error", {}).get("code") if response.status_code in (400, 422) else ""
    beyond = said in ("last_message_not_user", "empty_message", "invalid_image", "bad_request", "both_given",
                      "idempotency_key_reused", "duplicate_tool", "unknown_tool", "client_tools_off")
    excluded = [positive_data_acceptance] if beyond else []
    if response.status_code == 413:  # too large to be looked at is refused, too
        excluded.append(negative_data_rejection)
    try:
        case.validate_response(response, excluded_checks=excluded)
    except FailureGroup as group:
        # The key is always sent, whatever the case left out; parameters that nobody knows are tolerated.
        tolerated = ("was Authorization", "`additionalProperties`")
        wrong = [e for e in group.exceptions if not any(words in str(e) for words in tolerated)]
        assert not wrong, "\\n".join(map(str, wrong))
"""


async def test_the_document_names_every_route_and_is_whole() -> None:
    whole = document()
    assert whole["openapi"] == "3.1.0"
    text = json.dumps(whole)
    refs = {ref.split('"')[0] for ref in text.split('"#/components/schemas/')[1:]}
    assert refs <= set(whole["components"]["schemas"])
    names = [op["operationId"] for methods in whole["paths"].values() for op in methods.values()]
    assert len(names) == len(set(names)) == 31


@pytest.mark.real
async def test_every_answer_is_as_the_document_says(manifest_context: Any, tmp_path: Path) -> None:
    """Requests that schemathesis makes, right and wrong ones: no fault, no answer that the document does not name."""
    pytest.importorskip("schemathesis")
    api = Api(manifest_context)
    await api.open(FakeConsole())
    script = tmp_path / "test_fuzz.py"
    script.write_text(FUZZ)
    env = {
        **os.environ,
        "URL": api.address,
        "KEY": manifest_context.secrets.get("API_SERVER_KEY"),
        "CASES": os.environ.get("HERMES_FUZZ_CASES", "4"),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(".hypothesis").absolute()),  # what is known of Unicode lasts
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", str(script)]
    done = await asyncio.to_thread(
        subprocess.run, command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    await api.close()
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
