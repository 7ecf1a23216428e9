"""Secrets as files and commands of one kind spell them; ``@`` stands for the secret."""

import base64

import pytest
from engine import redact
from measuring import left

KEY, WORD = "9f8a7B6c5D4e3F2a1B0c9D8e7F", "hunter2-Zebra"
ENCODED = base64.b64encode(b"MyP4ssw0rd-is-KQOIxz").decode()

XML = (
    '<add key="ApiKey"\nvalue="@"/>',
    '<add key="ApiKey"\r\n\tvalue="@" />',
    '<add\n  key="ApiKey"\n  value="@"/>',
    '<add key="ApiKey"\n     xdt:Transform="Insert"\n     value="@"/>',
    '<add key="ApiKey"\n\n value="@"/>',
    '<add value="@" key="ApiKey"/>',
    '<input name="password" id="pw" class="wide"\n  value="@">',
    '<property name="dbPassword">\n<value>@</value>',
    '<setting name="ClientSecret" serializeAs="String">\n  <value>@</value>',
    '<data name="SmtpPassword" xml:space="preserve">\n    <value>@</value>\n  </data>',
    "<property>\n  <name>fs.s3a.secret.key</name>\n  <value>@</value>\n</property>",
    "<property><name>db.password</name><value>@</value></property>",
    "<dict>\n\t<key>ApiToken</key>\n\t<string>@</string>",
)
COMMANDS = (
    "curl -sSu 'bob:@' x",
    "curl -su bob:@ x",
    "curl -kLu 'bob:@' x",
    "curl -u 'bob smith:@' x",
    "curl -u $'bob:@' x",
    'curl --user \\"bob:@\\" x',
    "['curl','-u','bob:@','x']",
    'subprocess.run(["curl", "--user", "bob:@"])',
    "echo 'localhost:5432:db:bob:@' > ~/.pgpass",
    "/tmp:5432:db:bob:@",
    "[::1]:5432:db:bob:@",
    "\\:\\:1:5432:db:bob:@",
    "define DB_PASSWORD =\n@\nendef",
)
FOREIGN = ("API 키: @", "시크릿 키: @", "액세스 키: @", "APIキー: @", "| 비밀번호 | @ |", "アクセスキー：@")
MANIFESTS = (
    "apiVersion: v1\nkind: Secret\ndata: {foo: @}\n",
    'apiVersion: v1\nkind: Secret # of the app\ndata:\n  foo: "@"\n',
    "---\napiVersion: v1\nkind: Secret\nimmutable: true\ndata:\n\n  foo: @\n",
)
PLAIN = (
    "<name>password</name>\n<value>string</value>",
    "<name>password</name>\n<description>Enter it here please</description>",
    "<name>max_tokens</name>\n<value>4096</value>",
    '<add key="ApiKeyName"\n value="primary"/>',
    '<input name="password" id="pw" class="field" value="">',
    "| 비밀번호 | 8-20 chars |",
    "비밀번호 키: 값",
    "curl -sSu user:$PASSWORD https://x",
    '["-u", "name:value7Bc"]',
    "kind: Secret # the name\ndata: {}",
    "apiVersion: v1\nkind: ConfigMap\ndata: {foo: some-words-7}",
    "define KEYS =\nfoo\nendef",
)


@pytest.mark.parametrize("spelled", [*XML, *COMMANDS])
@pytest.mark.parametrize("secret", [KEY, WORD])
def test_it_is_masked(spelled: str, secret: str) -> None:
    assert not left(secret, redact(spelled.replace("@", secret)))


@pytest.mark.parametrize("spelled", FOREIGN)
def test_it_is_masked_behind_words_of_other_letters(spelled: str) -> None:
    assert not left(KEY, redact(spelled.replace("@", KEY)))


@pytest.mark.parametrize("spelled", MANIFESTS)
def test_it_is_masked_in_a_manifest(spelled: str) -> None:
    assert ENCODED not in redact(spelled.replace("@", ENCODED))


@pytest.mark.parametrize("text", PLAIN)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text) == text
