"""A corpus that nobody tuned for: secrets of real formats in the places where they are met, and the words of 7 tongues.

Each row is made when it is asked for, so that no file holds what looks like a live secret. ``python heldout.py`` prints
what is missed.
"""

import base64
import random
from collections.abc import Iterator

Rng = random.Random
LOW, UP, DIG, HEX = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "0123456789abcdef"
WORD = LOW + UP + DIG
FORMATS = (
    """
hf_ a34|ghp_ w36|gho_ w36|ghs_ w36|github_pat_ w22 _ w59|glpat- w20|xoxb- d12 - d12 - w24|xapp-1- u11 - d13 - h64
sk-proj- w48|sk-ant-api03- w93 AA|AIza w35|ya29. w80|SG. w22 . w43|key- h32|rk_live_ w24|sk_live_ w24|whsec_ w32
npm_ w36|pypi-AgEIcHlwaS5vcmc w90|dckr_pat_ w27|shpat_ h32|xai- w80|gsk_ w52|r8_ w37|api_org_ a34|sha256~ w43
dop_v1_ h64|hvs. w24|ATATT3xFfGF0 w170|lin_api_ w40|ntn_ d11 w35|figd_ w40|glsa_ w32 _ h8|PMAK- h24 - h34|CFPAT- w43
pul- h40|dapi h32|sk-or-v1- h64|pplx- w48|fc- h32|tvly- w32|AGE-SECRET-KEY-1 u58|xkeysib- h64 - w16|sntrys_ w90
nvapi- w64|sbp_ h40|tskey-auth- w16 - w32|rpa_ w44|eyJhbGciOiJIUzI1NiJ9. w60 . w43|AKIA u16|glrt- w20|doo_v1_ h64
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
TOKENS = """
I pasted § into the form by mistake.
token: §
export SERVICE_TOKEN=§
SERVICE_TOKEN ?= §
SERVICE_TOKEN ::= §
SERVICE_TOKEN :::= §
API_KEY += §
$header .= '§';
define('API_TOKEN', '§');
curl -sS -H "Authorization: Bearer §" https://api.example.com/v1
curl -u "me:§" https://api.example.com
curl -u 'x-access-token:§' https://api.example.com
git clone https://oauth2:§@git.example.com/a/b.git
<apiKey>§</apiKey>
<add key="ApiToken" value="§" />
<token>␤    §␤  </token>
{"api_key": "§", "n": 1}
{"headers":[{"name":"Authorization","value":"Bearer §"}]}
  api_key: "§"
stringData:␤  token: §
ENV API_TOKEN=§
ARG NPM_TOKEN="§"
Environment="API_TOKEN=§"
$env:API_TOKEN = "§"
set -gx API_TOKEN §
setx API_TOKEN "§"
private static final String TOKEN = "§";
const apiToken = `§`;
client = Client(api_key="§")
os.environ["API_TOKEN"] = "§"
--token=§
--api-key §
> token = §
2026-11-24T04:00:00Z DEBUG request token=§ status=200
https://api.example.com/v1/x?access_token=§&page=2
machine api.example.com login me password §
//registry.npmjs.org/:_authToken=§
[default]␤token = §
variable "token" {␤  default = "§"␤}
| token | § |
secrets:␤  - name: token␤    value: §
의 토큰: §
トークン：§
令牌：§
- `§` is the key
The old one (§) was revoked.
["§"]
"§",
§
X-Api-Key: §
api.token=§
token → §
echo § | docker login -u me --password-stdin
""".strip().split("\n")
PASSWORDS = """
password: §
비밀번호: §
비밀번호는 § 입니다
암호 = §
패스워드: §
비번: §
密码：§
密码是 §
密碼: §
口令: §
パスワード：§
パスワードは § です
暗証番号: §
Passwort: §
Kennwort: §
mot de passe : §
contraseña: §
senha: §
пароль: §
PASSWORD ?= §
DB_PASSWORD ::= §
DB_PASSWORD := §
$password .= "§";
$cfg['password'] = '§';
<password>§</password>
<password>␤  §␤</password>
<property name="password" value="§"/>
<connectionString>Server=db;User Id=sa;Password=§;</connectionString>
"Data Source=db;Initial Catalog=x;User ID=me;Password=§"
postgres://me:§@db.example.com:5432/x
mongodb+srv://me:§@cluster0.example.net/test
amqps://me:§@mq.example.com/vhost
redis://:§@cache.example.com:6379/0
jdbc:mysql://db/x?user=me&password=§
mysql -u root -p§ shop
mysqldump --password=§ shop
PGPASSWORD=§ psql -h db
sshpass -p § ssh me@example.com
sshpass -p '§' ssh me@example.com
curl -u me:§ https://example.com
curl -u "me:§" https://example.com
curl --user 'me:§' https://example.com
wget --user=me --password=§ https://example.com
redis-cli -a § ping
db.example.com:5432:shop:me:§
*:*:*:me:§
localhost:5433:*:postgres:§
machine example.com login me password §
CREATE USER me IDENTIFIED BY '§';
ALTER ROLE me WITH PASSWORD '§';
spring.datasource.password=§
requirepass §
MYSQL_ROOT_PASSWORD: §
- POSTGRES_PASSWORD=§
admin_password = "§"
"password" : "§"
{'user': 'me', 'passwd': '§'}
openssl pkcs12 -in a.p12 -passin pass:§
zip -P § a.zip b
7z x -p§ a.7z
net use \\\\srv\\share /user:me §
smbclient //srv/share -U me%§
ldapsearch -D cn=me -w § -b dc=x
echo '§' | sudo -S true
ansible_become_password: §
Login: me / Password: §
user me, pass §
The password is §.
my password is "§"
passphrase: §
""".strip().split("\n")
BODIES = ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]
KEYS = ["{}", "PASSWORD={}", 'KEY="{}"', "key: |\n  {}", "secret = '''{}'''", "<key>\n{}\n</key>"]
MANIFESTS = ["token", "password", "tls.key", "settings", ".dockerconfigjson", "a"]


def drawn(shape: str, rng: Rng) -> str:
    """A value of a format such as ``xoxb- d12 - w24``."""
    signs = {"a": LOW + UP, "w": WORD, "d": DIG, "h": HEX, "u": UP + DIG}
    made = ""
    for part in shape.split(" "):
        if part[0] in signs and part[1:].isdigit() and made:
            made += "".join(rng.choices(signs[part[0]], k=int(part[1:])))
        else:
            made += part
    return made


def password(rng: Rng) -> str:
    """One as people and programs make them."""
    some = lambda signs, k: "".join(rng.choices(signs, k=k))  # noqa: E731
    word = rng.choice(["harbor", "Winter", "kestrel", "Blau", "sakura", "copper", "Tiger", "moon"])
    ways = [
        lambda: f"{word}{some(DIG, 4)}!",
        lambda: f"{word.capitalize()}-{some(LOW, 5)}-{some(DIG, 2)}",
        lambda: some(WORD, 16) + rng.choice("!%*+") + some(DIG, 1),
        lambda: f"{some(UP, 2)}{some(DIG, 3)}{some(LOW, 4)}#{some(DIG, 2)}",
        lambda: some(WORD, 12) + some(DIG, 2),
        lambda: f"{word}_{some(DIG, 3)}x{some(UP, 2)}",
    ]
    return rng.choice(ways)()


def rows(seed: str = "held out") -> Iterator[tuple[str, str, str]]:
    """Kind, text and secret of each row."""
    rng = Rng(seed)
    for number, shape in enumerate(FORMATS):
        for at in range(8):
            text = TOKENS[(number * 7 + at * 5) % len(TOKENS)]
            value = drawn(shape, rng)
            yield shape.split(" ")[0], text.replace("§", value).replace("␤", "\n") + "\n", value
    for text in PASSWORDS * 2:
        value = password(rng)
        while "://" in text and set("#%/@+") & set(value):  # those are percent-encoded in an address
            value = password(rng)
        yield "password", text.replace("§", value).replace("␤", "\n") + "\n", value
    for name in BODIES:
        for text in KEYS:
            lines = ["".join(rng.choices(WORD + "+/", k=64)) for _ in range(4)]
            whole = "\n".join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----"])
            yield "key", text.format(whole.replace("\n", "\n  ") if "|" in text else whole) + "\n", "\n".join(lines)
    for name in MANIFESTS:
        value = base64.b64encode(password(rng).encode() + rng.randbytes(9)).decode()
        text = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ntype: Opaque\ndata:\n  {name}: {value}\n"
        yield "manifest", text, value


def main() -> None:
    """Print what is missed."""
    from engine import redact
    from measuring import left

    found = list(rows())
    missed = [(kind, text) for kind, text, value in found if left(value, redact(text))]
    for kind, text in missed:
        print(kind, repr(text)[:150], "->", repr(redact(text))[:120])
    print(f"{len(found)} secrets, recall {1 - len(missed) / len(found):.4f}")


if __name__ == "__main__":
    main()
