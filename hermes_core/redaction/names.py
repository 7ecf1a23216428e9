"""What names of settings, fields, headers and parameters say about their values."""

from functools import lru_cache

from hermes_core.redaction.patterns import compiled as _re

__all__ = ["strength"]

_CAMEL = r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_P = (
    r"(?:\w*(?:password|passwd|passwort|passphrase|passcode|kennwort|contrasena|wachtwoord|heslo)|pwd|pw|psw|assword|passe|\w*pass|passw|senha|(?:wpa_)?psk|rediscli_auth"
    r"|(?:db|my|pg|mysql|user|root|admin|sql|ftp|smtp|mail|redis|ldap|http|proxy|ssh|new|old|login|auth|sudo|keystore|truststore|store|bind|become|require|master|sa|store|wifi|host|client|server|my|svc)_?(?:pass|pwd|pw)|pgpass|masterauth)"
)
_S = (
    r"(?:secrets?|\w*(?:secret|token|apikey|accesskey|secretkey|privatekey|authkey|accountkey|sharedaccesskey)|tokens|api_?keys"
    r"|bearer|jwt|pat|creds|credentials?|authorization|x_amz_signature|x_amz_security_token)"
)
_KEYS = (
    r"(?:\w+_)?(?:\w*api|secret|access|private|auth|encryption|encrypt|signing|sign|master|account|shared|storage|license|licence|deploy"
    r"|admin|app|application|client|consumer|hmac|vault|root|ingest|integration|routing|rest|server|webhook|subscription"
    r"|functions|host|instrumentation|write|read|site|service|product|ssh|wallet|aes|des|crypto|cipher|jwt|session|cookie|user"
    r"|project|account|developer|dev|merchant|security|activation|recovery|shared_access|preshared|pre_shared|psk|wpa|fernet|kms"
    r"|openai|stripe|github|gitlab|google|azure|aws|gcp|datadog|dd|sendgrid|twilio|heroku|mailgun|mailchimp|anthropic|cohere"
    r"|mistral|together|groq|replicate|pagerduty|cloudflare|fastly|vercel|sentry|algolia|maps|openrouter|llm|model|provider)_key"
)
_WEAK = (
    r"(?:\w+_)?(?:auth|signature|sig|session|sessionid|sessid|sid|session_id|cookie|salt|code|key|dsn|webhook|seed|nonce_secret|credential"
    r"|private|license|client_key_data|keystore|jks|p12|pfx|pkcs12|saml_?response|samlresponse|\w*assertion|key_data|basic_auth|authdata|conn_str|connection_str|connection_string|connstr|passkey|pskey)"
)
_ENDS = (
    r"(?:_(?:value|val|raw|plain|plaintext|cleartext|clear|text|b64|base64|encoded|str|string|prod|production|dev|development|staging"
    r"|stage|test|live|sandbox|old|new|current|previous|prev|backup|primary|secondary|main|default|base|data|confirm|confirmation"
    r"|repeat|again|verify|enc|local|ci|\d+|v\d+|[a-z]))*"
)
_HARMLESS = (
    r"(?:\w+_)?(?:public|pub|foreign|partition|sort|cache|composite|unique|index|idempotency|row|group|object|dict|map"
    r"|i18n|translation|message|locale|lookup|natural|surrogate|tab|arrow|enter|hot|shortcut|column|field|json|param|query|known|dedupe"
    r"|dedup|sorting|hash|range|registry|s3|config|event|storage_class|bucket|tree|node|item|parent|routing_cache|ec|sha|fingerprint)_keys?"
    r"|(?:\w+_)?(?:max|min|num|n|total|next|page|next_page|prev_page|continuation|cursor|cancel|cancellation|eos|bos|pad|unk|sep"
    r"|cls|mask|special|stop|input|output|prompt|completion|cached|reasoning|new|first|last|lookahead|unexpected|count|used|text|image"
    r"|ct|sync|start|end)_tokens?|(?:error|status|exit|zip|postal|country|lang|language|currency|source|http|response|return|area"
    r"|promo|coupon|qr|bar|product|item|color|sub|key|state|event|reason|op|byte|char|ascii|region|airport|iso|sku)_?code"
    r"|public_?key|author|authority|(?:\w+_)?(?:get|by|com|sur|tres|encom|over|under|im|out)pass|(?:\w+_)?(?:no|by|first|second|multi|single|forward|backward|render|shader|two|one|num|n|all|is|did|test|tests|last|boarding|will|must|should|may|can)_pass"
    r"|(?:\w+_)?by_pass|encode|decode|unicode|opcode|barcode|passthrough|passed|passing|\w*(?:password|secret|token|key)less"
)
_FOREIGN = frozenset({"пароль", "密码", "hasło", "lösenord", "パスワード"})
_RECOVERY = r"(?:\w+_)?(?:backup|recovery|rescue|scratch|emergency)_codes?"


@lru_cache(4096)
def strength(name: str) -> str:
    """P: a password's name. S: a token's, key's or secret's. W, H: often one of these; W's look is often a digest's too.

    C: cookies. N: short numbers. R: recovery codes. Empty: no secret's.
    """
    if name.lower() in _FOREIGN:
        return "P"
    plain = _re(_CAMEL).sub("_", name.strip("-_.: "))
    plain = _re(r"[^a-z0-9]+").sub("_", plain.lower().replace("ñ", "n")).strip("_")
    if _re(_RECOVERY).fullmatch(plain):
        return "R"
    if _re(_HARMLESS).fullmatch(plain):
        return ""
    if _re(r"(?:\w+_)?" + _P + _ENDS).fullmatch(plain):
        return "P"
    if _re(r"(?:\w+_)?" + _S + _ENDS).fullmatch(plain) or _re(_KEYS + _ENDS).fullmatch(plain):
        return "S"
    if _re(
        r"(?:\w+_)?(?:pin|otp|totp|cvv|cvc|mfa|2_?fa)(?:_?code)?|auth_code|(?:verification|security|confirmation|one_time|login|sms|two_factor)_(?:code|pin)"
    ).fullmatch(plain):
        return "N"
    if _re(r"(?:set_)?cookie").fullmatch(plain):
        return "C"
    if not _re(_WEAK + _ENDS).fullmatch(plain):
        return ""
    if name.isupper() and _re(r"\w+_key" + _ENDS).fullmatch(plain):  # of an environment
        return "S"
    return "H" if _re(r"\w*(?:sig|auth|dsn|signature|credential|conn)\w*").fullmatch(plain) else "W"
