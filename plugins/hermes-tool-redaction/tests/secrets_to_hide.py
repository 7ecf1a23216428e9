"""Secrets in context, for the corpus: values are drawn with a seed, what stands around them was written by hand.

A row is the text in which ``{}`` stands for the secret, and the secret in parts, so that no file of the repository holds
what looks like a live one.
"""

import base64
import json
import random
import string
import uuid
from collections.abc import Callable

Rng = random.Random
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def some(rng: Rng, size: int, letters: str = ALNUM) -> str:
    """Random letters; the first two are a letter and a digit, so that no draw is a word."""
    return (
        rng.choice([c for c in letters if c.isalpha()])
        + rng.choice([c for c in letters if c.isdigit()] or letters)
        + "".join(rng.choice(letters) for _ in range(size - 2))
    )


def base64_of(rng: Rng, size: int) -> str:
    return base64.b64encode(rng.randbytes(size)).decode()


def jwt(rng: Rng) -> str:
    head = (
        base64.urlsafe_b64encode(json.dumps({"alg": rng.choice(["HS256", "RS256"]), "typ": "JWT"}).encode())
        .decode()
        .rstrip("=")
    )
    body = (
        base64.urlsafe_b64encode(json.dumps({"sub": some(rng, 10), "exp": rng.randrange(2**31)}).encode())
        .decode()
        .rstrip("=")
    )
    return f"{head}.{body}.{some(rng, 43, URLSAFE)}"


# prefix, body: the formats of services, each by its own rules as far as they are public
VENDORS: dict[str, tuple[str, Callable[[Rng], str]]] = {
    "openai": ("sk-", lambda r: some(r, 48)),
    "openai-project": ("sk-proj-", lambda r: some(r, 120, URLSAFE)),
    "openai-service": ("sk-svcacct-", lambda r: some(r, 60, URLSAFE)),
    "anthropic": ("sk-ant-", lambda r: "api03-" + some(r, 86, URLSAFE) + "-AA"),
    "openrouter": ("sk-or-", lambda r: "v1-" + some(r, 64, HEX)),
    "deepseek": ("sk-", lambda r: some(r, 32, HEX)),
    "google-key": ("AIza", lambda r: "Sy" + some(r, 33, URLSAFE)),
    "google-access": ("ya29.", lambda r: "a0" + some(r, 90, URLSAFE)),
    "google-client": ("GOCSPX-", lambda r: some(r, 28, URLSAFE)),
    "aws-id": ("AKIA", lambda r: some(r, 16, string.ascii_uppercase + "234567")),
    "aws-temporary": ("ASIA", lambda r: some(r, 16, string.ascii_uppercase + "234567")),
    "github": ("ghp_", lambda r: some(r, 36)),
    "github-oauth": ("gho_", lambda r: some(r, 36)),
    "github-server": ("ghs_", lambda r: some(r, 36)),
    "github-user": ("ghu_", lambda r: some(r, 36)),
    "github-refresh": ("ghr_", lambda r: some(r, 36)),
    "github-fine": ("github_pat_", lambda r: "11" + some(r, 20) + "_" + some(r, 59)),
    "gitlab": ("glpat-", lambda r: some(r, 20, URLSAFE)),
    "gitlab-deploy": ("gldt-", lambda r: some(r, 20, URLSAFE)),
    "gitlab-runner": ("glrt-", lambda r: some(r, 20, URLSAFE)),
    "slack-bot": ("xoxb-", lambda r: f"{r.randrange(10**11, 10**12)}-{r.randrange(10**12, 10**13)}-{some(r, 24)}"),
    "slack-user": (
        "xoxp-",
        lambda r: f"{r.randrange(10**11, 10**12)}-{r.randrange(10**11, 10**12)}-{some(r, 32, HEX)}",
    ),
    "slack-app": ("xapp-", lambda r: f"1-A{some(r, 10).upper()}-{r.randrange(10**12, 10**13)}-{some(r, 64, HEX)}"),
    "stripe": ("sk_live_", lambda r: some(r, 24)),
    "stripe-test": ("sk_test_", lambda r: some(r, 24)),
    "stripe-restricted": ("rk_live_", lambda r: some(r, 24)),
    "stripe-hook": ("whsec_", lambda r: some(r, 32)),
    "twilio": ("SK", lambda r: some(r, 32, HEX)),
    "sendgrid": ("SG.", lambda r: some(r, 22, URLSAFE) + "." + some(r, 43, URLSAFE)),
    "mailgun": ("key-", lambda r: some(r, 32, HEX)),
    "mailchimp": ("", lambda r: some(r, 32, HEX) + "-us1"),
    "npm": ("npm_", lambda r: some(r, 36)),
    "pypi": ("pypi-", lambda r: "AgEIcHlwaS5vcmc" + some(r, 80, URLSAFE)),
    "docker": ("dckr_pat_", lambda r: some(r, 27, URLSAFE)),
    "digitalocean": ("dop_v1_", lambda r: some(r, 64, HEX)),
    "digitalocean-refresh": ("dor_v1_", lambda r: some(r, 64, HEX)),
    "linear": ("lin_api_", lambda r: some(r, 40)),
    "notion": ("ntn_", lambda r: some(r, 46)),
    "notion-old": ("secret_", lambda r: some(r, 43)),
    "airtable": ("pat", lambda r: some(r, 14) + "." + some(r, 64, HEX)),
    "atlassian": ("ATATT", lambda r: "3xFfGF0" + some(r, 170, URLSAFE) + "=" + some(r, 8, HEX).upper()),
    "shopify": ("shpat_", lambda r: some(r, 32, HEX)),
    "square": ("sq0atp-", lambda r: some(r, 22, URLSAFE)),
    "square-secret": ("sq0csp-", lambda r: some(r, 43, URLSAFE)),
    "databricks": ("dapi", lambda r: some(r, 32, HEX)),
    "huggingface": ("hf_", lambda r: some(r, 34)),
    "replicate": ("r8_", lambda r: some(r, 37)),
    "groq": ("gsk_", lambda r: some(r, 52)),
    "xai": ("xai-", lambda r: some(r, 80)),
    "perplexity": ("pplx-", lambda r: some(r, 48)),
    "fireworks": ("fw_", lambda r: some(r, 24)),
    "nvidia": ("nvapi-", lambda r: some(r, 64, URLSAFE)),
    "tavily": ("tvly-", lambda r: some(r, 32)),
    "firecrawl": ("fc-", lambda r: some(r, 32, HEX)),
    "elevenlabs": ("sk_", lambda r: some(r, 48, HEX)),
    "sentry": ("sntrys_", lambda r: some(r, 80)),
    "newrelic": ("NRAK-", lambda r: some(r, 27, string.ascii_uppercase + string.digits)),
    "grafana": ("glsa_", lambda r: some(r, 32) + "_" + some(r, 8, HEX)),
    "grafana-cloud": ("glc_", lambda r: some(r, 80)),
    "vault": ("hvs.", lambda r: some(r, 90, URLSAFE)),
    "vault-old": ("s.", lambda r: some(r, 23) + "Z"),
    "doppler": ("dp.pt.", lambda r: some(r, 43)),
    "terraform": ("", lambda r: some(r, 14) + ".atlasv1." + some(r, 67)),
    "pulumi": ("pul-", lambda r: some(r, 40, HEX)),
    "netlify": ("nfp_", lambda r: some(r, 36)),
    "supabase": ("sbp_", lambda r: some(r, 40, HEX)),
    "planetscale": ("pscale_tkn_", lambda r: some(r, 43, URLSAFE)),
    "fernet": ("gAAAA", lambda r: "AB" + some(r, 90, URLSAFE) + "="),
    "age": ("AGE-SECRET-KEY-1", lambda r: some(r, 58, string.ascii_uppercase + "023456789")),
    "jwt": ("", jwt),
    "discord": ("", lambda r: "M" + some(r, 23) + "." + some(r, 6, URLSAFE) + "." + some(r, 27, URLSAFE)),
    "telegram": ("", lambda r: f"{r.randrange(10**8, 10**10)}:AA{some(r, 33, URLSAFE)}"),
    "wif": ("", lambda r: "K" + some(r, 51, BASE58)),
    "xprv": ("xprv", lambda r: some(r, 107, BASE58)),
    "postman": ("PMAK-", lambda r: some(r, 24, HEX) + "-" + some(r, 34, HEX)),
    "rubygems": ("rubygems_", lambda r: some(r, 48, HEX)),
    "brave": ("brv_", lambda r: some(r, 30)),
    "exa": ("exa_", lambda r: some(r, 30)),
    "baseten-like": ("syt_", lambda r: some(r, 40)),
    "cerebras": ("csk-", lambda r: some(r, 48, LOWER)),
    "langsmith": ("lsv2_pt_", lambda r: some(r, 32, HEX) + "_" + some(r, 10, HEX)),
    "pinecone": ("pcsk_", lambda r: some(r, 60)),
    "figma": ("figd_", lambda r: some(r, 40, URLSAFE)),
    "brevo": ("xkeysib-", lambda r: some(r, 64, HEX) + "-" + some(r, 16)),
    "facebook": ("EAAC", lambda r: some(r, 120)),
    "paypal": ("access_token$production$", lambda r: some(r, 16, LOWER) + "$" + some(r, 32, HEX)),
}

WORDS = [
    "harbor",
    "velvet",
    "copper",
    "thunder",
    "meadow",
    "lantern",
    "orchid",
    "falcon",
    "granite",
    "pepper",
    "anchor",
    "ribbon",
    "walnut",
    "comet",
    "saddle",
]
SEED_WORDS = [
    "abandon",
    "ability",
    "gravity",
    "museum",
    "orchard",
    "panther",
    "quantum",
    "ribbon",
    "saddle",
    "velvet",
    "walnut",
    "zebra",
    "lunar",
    "cactus",
    "anchor",
]


def password(rng: Rng) -> str:
    """As people make them up, and as programs do."""
    return rng.choice(
        [
            lambda: rng.choice(WORDS).capitalize() + str(rng.randrange(10, 9999)) + rng.choice("!@#$%"),
            lambda: rng.choice(WORDS) + str(rng.randrange(1, 999)),
            lambda: some(rng, rng.randrange(10, 24)),
            lambda: some(rng, 14, ALNUM + "!@#%^*-_=+."),
            lambda: "-".join(rng.choices(WORDS, k=3)) + str(rng.randrange(10, 99)),
            lambda: (
                rng.choice(WORDS).replace("e", "3").replace("a", "4").replace("o", "0") + "_" + str(rng.randrange(100))
            ),
        ]
    )()


def simple(rng: Rng) -> str:
    """A password without signs, for places where these would need an escape."""
    return rng.choice(
        [lambda: some(rng, rng.randrange(9, 22)), lambda: rng.choice(WORDS) + str(rng.randrange(10, 99999))]
    )()


def token(rng: Rng) -> str:
    """A token without a beginning of its own."""
    return rng.choice(
        [
            lambda: some(rng, rng.choice([20, 24, 32, 40, 64])),
            lambda: some(rng, rng.choice([32, 40, 64]), HEX),
            lambda: base64_of(rng, rng.choice([24, 32, 48])),
            lambda: some(rng, 36, URLSAFE),
            lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
        ]
    )()


def plain_token(rng: Rng) -> str:
    """The same, of letters and digits only."""
    return some(rng, rng.choice([20, 24, 32, 40]), rng.choice([ALNUM, HEX, LOWER]))


def pem(rng: Rng, lines: int = 6) -> str:
    return (
        "\n".join("".join(rng.choice(ALNUM + "+/") for _ in range(64)) for _ in range(lines))
        + "\n"
        + some(rng, 30)
        + "=="
    )


def seed(rng: Rng) -> str:
    return " ".join(rng.choices(SEED_WORDS, k=rng.choice([12, 15, 24])))


def basic(rng: Rng) -> str:
    return base64.b64encode(f"{rng.choice(WORDS)}:{simple(rng)}".encode()).decode()


KINDS: dict[str, Callable[[Rng], str]] = {
    "password": password, "simple": simple, "token": token, "plain": plain_token, "seed": seed, "basic": basic, "jwt": jwt,
    "pem": pem, "aws": lambda r: "".join(r.choice(ALNUM + "+/") for _ in range(39)) + "x", "azure": lambda r: base64_of(r, 64),
    "hex32": lambda r: some(r, 32, HEX), "uuid": lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)),
    "b64": lambda r: base64.b64encode(simple(r).encode() + b"!").decode(), "pin": lambda r: str(r.randrange(1000, 999999)), "phone": lambda r: "+" + r.choice(["14155", "4930", "33612", "8613"]) + str(r.randrange(10**6, 10**7)),
}  # fmt: skip
