"""Who asks: keys, profiles, roles; each request is signed so that another reading of the description agrees."""

import json

import pytest

from hermes_core.errors import AuthError
from hermes_core.types import Endpoint
from hermes_provider_bedrock.config import Config
from hermes_provider_bedrock.setup import all_steps

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE"}
ROLE = """<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey><SessionToken>role-token</SessionToken>
<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>"""


@pytest.fixture
def hi(service, wire):
    service.always = wire.streamed(wire.reply(wire.block(0, {"text": "Hi."})))
    return service


def told(asked):
    return asked.headers["authorization"]


async def test_a_key_of_bedrock_is_sent_and_wins(hi, at, ask, keys, wire):
    await ask(at(secrets=keys(**KEYS, AWS_SECRET_ACCESS_KEY=wire.SECRET)))
    assert told(hi.asked[0]) == "Bearer ABSK-test-123"
    await ask(at(api_key="", secrets=keys(AWS_BEARER_TOKEN_BEDROCK="ABSK-env")))
    assert told(hi.asked[1]) == "Bearer ABSK-env"
    await ask(at(headers={"Authorization": "Gateway x"}))
    assert told(hi.asked[2]) == "Gateway x"


async def test_keys_of_an_account_sign_each_request(hi, at, ask, keys, wire, hello):
    from attrs import evolve

    provider = at(api_key="", secrets=keys(**KEYS, AWS_SECRET_ACCESS_KEY=wire.SECRET, AWS_SESSION_TOKEN="tok"))
    arn = "arn:aws:bedrock:eu-central-1:1:application-inference-profile/a b~c"
    for model in (hello.model, arn):
        await ask(provider, evolve(hello, model=model))
        asked = hi.asked[-1]
        assert told(asked).endswith(f"Signature={wire.signature_of(asked)}")
        assert "AKIDEXAMPLE" in told(asked)
        assert "/eu-central-1/bedrock/aws4_request" in told(asked)
        assert asked.headers["x-amz-security-token"] == "tok"
    hi.script = [wire.http(200, "{}"), wire.http(200, json.dumps({"inferenceProfileSummaries": []}))]
    await provider.models()
    for asked in hi.asked[-2:]:
        assert told(asked).endswith(f"Signature={wire.signature_of(asked)}")


async def test_a_profile_that_was_chosen_wins_and_may_assume_a_role(
    hi, at, ask, keys, wire, tmp_path, monkeypatch, caplog
):
    (tmp_path / "aws-credentials").write_text("[base]\naws_access_key_id = AKIABASE\naws_secret_access_key = s\n")
    role = "[profile work]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\nregion = eu-central-1\n"
    (tmp_path / "aws-config").write_text(role)
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"{hi.url}/sts")
    hi.by_path["/sts"] = hi.by_path["/sts/"] = wire.http(200, ROLE, "text/xml")
    caplog.set_level("DEBUG")
    environment = keys(**KEYS, AWS_SECRET_ACCESS_KEY=wire.SECRET, AWS_BEARER_TOKEN_BEDROCK="ABSK-env")
    provider = at(api_key="", secrets=environment, config=Config(profile="work"))
    await ask(provider)
    await ask(provider)
    assert "role-secret" not in caplog.text
    assert "role-token" not in caplog.text
    sts, *asked = hi.asked
    assert "AKIABASE" in told(sts)
    assert b"Action=AssumeRole" in sts.raw
    for one in asked:  # the role was assumed once
        assert "ASIAROLE" in told(one)
        assert one.headers["x-amz-security-token"] == "role-token"
        assert told(one).endswith(f"Signature={wire.signature_of(one, 'role-secret')}")


async def test_a_profile_may_name_a_program_that_gives_credentials(hi, at, ask, keys, wire, tmp_path):
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"Version": 1, "AccessKeyId": "AKIAPROC", "SecretAccessKey": "p"}))
    (tmp_path / "aws-config").write_text(f"[profile own]\ncredential_process = cat {given}\n")
    await ask(at(api_key="", config=Config(profile="own", region="eu-central-1")))
    assert "AKIAPROC" in told(hi.asked[0])
    assert told(hi.asked[0]).endswith(f"Signature={wire.signature_of(hi.asked[0], 'p')}")


async def test_a_setup_asks_for_a_profile_and_reads_it_only_where_one_was_named(service, keys, wire, tmp_path):
    (tmp_path / "aws-credentials").write_text("[own]\naws_access_key_id = AKIAOWN\naws_secret_access_key = own-s\n")
    [step] = all_steps(keys(), {"bedrock": Endpoint(name="bedrock", base_url=service.url)}, Config())
    fields = {one.name: one for one in step.fields}
    assert (fields["profile"].key, fields["profile"].required) == ("providers.bedrock.profile", False)
    service.by_path["/foundation-models"] = service.by_path["/inference-profiles"] = wire.http(200, "{}")
    with pytest.raises(AuthError, match="none are set"):
        await step.test({"region": "eu-central-1", "profile": "", "key": ""})
    assert service.asked == []
    assert "0 models" in await step.test({"region": "eu-central-1", "profile": "own", "key": ""})
    assert "AKIAOWN" in told(service.asked[0])
    assert told(service.asked[0]).endswith(f"Signature={wire.signature_of(service.asked[0], 'own-s')}")
    assert fields["profile"].check("a\nb")


async def test_without_credentials_nothing_is_asked_and_the_ways_are_named(hi, at, ask, keys, tmp_path):
    with pytest.raises(AuthError, match="none are set") as raised:
        await ask(at(api_key=""))
    assert "AWS_BEARER_TOKEN_BEDROCK" in raised.value.hint
    (tmp_path / "aws-config").write_text("[profile own]\ncredential_process = false\n")
    with pytest.raises(AuthError, match="cannot be had"):
        await ask(at(api_key="", config=Config(profile="own", region="eu-central-1")))
    assert not hi.asked


@pytest.mark.real
async def test_the_server_of_these_tests_is_understood_by_awss_own_client(service, wire, monkeypatch):
    import asyncio

    from botocore.config import Config as Options
    from botocore.session import Session

    service.always = wire.streamed(wire.reply(wire.block(0, {"text": "Hel"}, {"text": "lo."})))

    def ask():
        keys = {"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": wire.SECRET}
        options = Options(retries={"max_attempts": 0})
        client = Session().create_client(
            "bedrock-runtime", "eu-central-1", endpoint_url=service.url, config=options, **keys
        )
        said = {"modelId": "amazon.nova-pro-v1:0", "messages": [{"role": "user", "content": [{"text": "hi"}]}]}
        return list(client.converse_stream(**said)["stream"])

    events = await asyncio.to_thread(ask)
    texts = [one["contentBlockDelta"]["delta"]["text"] for one in events if "contentBlockDelta" in one]
    assert texts == ["Hel", "lo."]
    assert events[-1]["metadata"]["usage"]["totalTokens"] == 16
    asked = service.asked[0]
    assert asked.path == "/model/amazon.nova-pro-v1%3A0/converse-stream"
    assert told(asked).endswith(f"Signature={wire.signature_of(asked)}")  # so our reading of the signature is right
