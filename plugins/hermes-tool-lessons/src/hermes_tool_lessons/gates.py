"""What may be learned: a lesson is a fact about the work, and never a rule about what is allowed.

Words are help, not a wall: what a lesson could make an agent do is decided by the policy, as for all that it does. What
must never be learned is refused whoever wants it; what leads outside, or comes from there, needs a person's yes.
"""

import re
from functools import cache

from hermes_tool_kit.injection import scan
from hermes_tool_lessons.values import LONGEST, TRIGGER, Draft

__all__ = ["needs_person", "refusal"]

_INVISIBLE = (
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_RULES = (
    ("it is about approvals or permissions", (
        r"\b(?:approv\w+|permission\w*|permit\w*|consent\w*|authori[sz]\w+|allow\s?-?list\w*|whitelist\w*|privileg\w*)\b",
        r"\b(?:allow|accept|confirm|grant|trust)(?:s|ed|ing)?\b[^.\n]{0,40}\b(?:all|any|every\w*|always|command\w*|call\w*|tool\w*|request\w*|source\w*|user\w*)\b",
        (r"\b(?:commands?|calls?|tools?|requests?|everything|anything|whatever|all)\b[^.\n]{0,40}"
        r"\b(?:allowed|accepted|trusted|safe|granted|cleared|fine|okay|ok)\b"),
        r"\b(?:run|execut\w*|do|obey|follow|agree\w*)\b[^.\n]{0,20}\b(?:whatever|anything|everything|what\s+it\s+says)\b|\brights\b",
        r"\b(?:nobody|no\s?one)\s+(?:needs?|has|must|should)\b|\b(?:click|say|answer|choose)\w*\s+[\"'`]?yes\b|필요\s?없이|의견\s?없이",
        r"(?:전부|모두|뭐든|무엇이든)\s?(?:실행|따르|수행)|不需要(?:再)?|什么就|甚麼就|一律|任何命令|何でも(?:実行|従)",
        r"\b(?:answer|reply|response|verdict)\w*\b[^.\n]{0,40}\b(?:yes|approve\w*|allow\w*)\b",
        r"\bwithout\s+(?:\w+\s+){0,3}(?:ask\w*|confirm\w*|question\w*|check\w*|review\w*|warning\w*|telling)",
        r"\b(?:do\s+not|don'?t|never|no\s+need\s+to|stop)\s+(?:\w+\s+){0,2}(?:ask|confirm|warn|tell|mention|report|log|show|inform)\w*\b",
        r"\b(?:say|answer|reply|press|type|choose)\s+[\"'`]?(?:yes|y|always|ok|approve)\b",
        r"승인|허락|허용|권한|동의|묻지\s?(?:말|마|않)|물어보지|확인\s?(?:없이|하지)|무조건|알리지\s?(?:말|마|않)",
        r"批准|許可|许可|权限|權限|允许|允許|同意|授权|授權|(?:不|别|別|无需|無需|不用|不要|勿)(?:再)?(?:询问|詢問|问|問|确认|確認|告诉|告訴|通知|提示)|一律接受",
        r"承認|権限|確認(?:せず|なし|しない)|聞かずに|尋ねず|知らせ(?:ず|ない)",
        r"\b(?:genehmig\w+|erlaub\w+|berechtig\w+|freigab\w+|ohne\s+(?:zu\s+)?(?:frag|nachfrag|rückfrag|bestätig)\w*)\b",
    )),
    ("it is about policy, or what keeps watch", (
        r"\b(?:polic(?:y|ies)|guard\w*|sandbox\w*|wall\s+(?:around|of)|certificates?|firewall\w*|deny\s?rules?|hard\s?blocks?|redact\w*|audit\w*|safety|security|antivirus)\b",
        r"\b(?:disable|bypass|skip|circumvent|evade|turn\s+off|override|suppress)\w*\b[^.\n]{0,40}\b(?:check|verif|protect|hook|warning|limit|filter|rule|tls|ssl|certificate|auth)\w*",
        r"--(?:no-verify|yolo|dangerously\S*|insecure|no-sandbox|privileged|allow-\S+|trust-\S+|force-yes|unsafe\S*)|\b(?:sudo|root|superuser|administrator|admin\s+(?:account|user))\b|\bdoas\b|\bsetuid\b|\bchmod\b|\bchown\b",
        r"\bverify\s*[=:]\s*(?:false|0|no|none)\b|\bStrictHostKeyChecking\b|\w*SSL_NO_VERIFY\b|\bNODE_TLS_REJECT_UNAUTHORIZED\b|\bcurl\b[^\n]*\s-\w*k\b|\bsslVerify\b",
        r"보안|정책|방화벽|샌드박스|우회|가드|검증을?\s?(?:건너|생략)|관리자|管理员|管理員|管理者|策略|安全|防火墙|防火牆|沙箱|沙盒|绕过|繞過|跳过\S{0,4}(?:检查|验证)|禁用\S{0,6}(?:检查|验证|保护)|セキュリティ|ポリシー|サンドボックス|迂回|回避",
        r"\b(?:instruct\w*|system\s+prompt|previous\s+(?:rules|orders)|jailbreak|developer\s+mode)\b|指令|指示を|지시를?\s?(?:무시|잊)|무시(?:하|해)|忽略|无视|無視",
        r"\b(?:lessons?|memor(?:y|ies)|learned|MEMORY\.md|USER\.md|AGENTS\.md|SOUL\.md|CLAUDE\.md|config\.yaml)\b",
    )),
    ("it is about keys or other secrets", (
        r"\b(?:api[\s_-]?keys?|secret\w*|passw(?:or)?ds?|passphrase\w*|credential\w*|logins?|(?:access|auth|bearer|refresh|session|api)[\s_-]?tokens?|tokens?\b(?=[^.\n]{0,20}\b(?:send|print|log|copy|paste))|private\s+keys?|ssh\s+keys?|cookies?|keychain|keyring|vault)\b",
        r"(?:^|[\s/\"'`(])\.(?:env|netrc|pgpass|ssh|aws|gnupg|kube|npmrc|pypirc|bashrc|zshrc|profile)\b|id_(?:rsa|ed25519|ecdsa)|authorized_keys|/etc/(?:passwd|shadow|sudoers)|\bcrontab\b|\bsystemctl\b",
        r"비밀\s?번호|로그인\s?(?:정보|계정)|登录(?:信息|名)|登錄|ログイン情報|비밀\s?키|암호|토큰|자격\s?증명|인증\s?키|密码|密碼|密钥|密鑰|凭证|憑證|口令|令牌|秘钥|パスワード|秘密鍵|認証情報|トークン",
        r"\b(?:sk|ghp|gho|xox[abp]|AKIA|AIza)[-_A-Za-z0-9]{12,}|-----BEGIN",
    )),
    ("it names a path outside of the work", (
        r"(?:^|[\s\"'`(=:])(?:~|\$\{?HOME\}?|%USERPROFILE%)(?:/|\\|\b)|(?:^|[\s\"'`(=])/(?:etc|usr|var|root|home|opt|bin|sbin|lib|proc|sys|dev|boot|Users|Library|private|tmp|mnt|srv|run)\b|\b[A-Z]:\\|\.\./\.\.",
    )),
    ("it would run what comes from elsewhere, or destroys", (
        r"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^\n]*\|\s*\S*sh\b|\|\s*(?:ba|z|da)?sh\b|\b(?:ba|z|da|k)?sh\s+<\(|\beval\b|\bbase64\s+(?:-d|--decode)|\bnc\s+-|/dev/tcp|\bos\.system\b|\bsubprocess\b|__import__|\bexec\(",
        r"\brm\s+-\w*[rf]|\bmkfs\b|\bdd\s+if=|\bDROP\s+(?:TABLE|DATABASE)\b|\bpush\s+(?:--force|-f)\b|\breset\s+--hard\b|\bgit\s+clean\b|\bshred\b|\bformat\s+[a-z]:",
    )),
)  # fmt: skip
_LEADS_OUT = (
    r"\b[a-z][a-z0-9+.-]*://|\bwww\.|\b[\w.+-]+@[\w-]+\.[a-z]{2,}|\b(?:\d{1,3}\.){3}\d{1,3}\b",
    r"\b(?:send|post|upload|forward|e-?mail|mail|share|publish|exfiltrat\w*|leak|transmit|report|cc|bcc)(?:s|ed|ing)?\b",
    r"\b(?:scp|sftp|rsync|ftp|nc|ncat|netcat|socat)\b",
    r"\b(?:pip3?|npm|pnpm|yarn|uv|cargo|gem|go|brew|apt|apt-get|dnf|docker|npx|uvx|pipx)\s+(?:install|add|get|pull|run|-i)\b|\bnpx\b|\buvx\b",
    r"\b(?:pay|buy|purchase|transfer|wire|invoice|schedule|every\s+(?:day|hour|night|morning|minute)|cron)\b",
    r"보내|전송|업로드|전달|결제|송금|설치|예약|발송|发送|發送|上传|上傳|转发|轉發|支付|转账|轉帳|安装|安裝|定时|送信|アップロード|転送|送って|支払|インストール",
)


def refusal(draft: Draft) -> str:
    """Say why a lesson must not be learned, whoever wants it; empty where nothing speaks against it."""
    if not draft.text.strip():
        return "it is empty"
    if len(draft.text) > LONGEST:
        return f"it is {len(draft.text)} characters long, and {LONGEST} is the most"
    if len(draft.trigger) > TRIGGER:
        return f"what calls for it is {len(draft.trigger)} characters long, and {TRIGGER} is the most"
    both = f"{draft.trigger}\n{draft.text}"
    if any(len(part.splitlines()) > 1 for part in (draft.trigger.strip(), draft.text.strip())):
        return "it is more than one line"
    if re.search(_INVISIBLE, both):
        return "it holds characters that nobody can see"
    for why, pattern in _rules():
        if pattern.search(both) or pattern.search(_plain(both)):
            return why
    return scan(both)


def needs_person(draft: Draft) -> str:
    """Say why only a person may let a lesson in; empty where it is clean."""
    if draft.tainted:
        return "text from outside, or a guest's, was in the conversation that it came of"
    if _leads_out().search(_plain(f"{draft.trigger}\n{draft.text}")):
        return "it leads out: it sends, installs, pays or names an address"
    return ""


@cache
def _rules() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((why, re.compile("|".join(patterns), re.IGNORECASE)) for why, patterns in _RULES)


@cache
def _leads_out() -> re.Pattern[str]:
    return re.compile("|".join(_LEADS_OUT), re.IGNORECASE)


def _plain(text: str) -> str:
    """Return a text without disguises: one form for each character, no signs inside of words."""
    import unicodedata

    text = unicodedata.normalize("NFKC", text).translate(_ALIKE)
    return re.sub(r"(?<=\w)[*_~`|.\-](?=\w)", "", text) + "\n" + re.sub(r"[*~`|]", "", text)


_ALIKE = str.maketrans("аеорсухіѕјԁһԛԝɡοερτυνκ", "aeopcyxisjdhqwgoeptuvk")  # letters that look alike
