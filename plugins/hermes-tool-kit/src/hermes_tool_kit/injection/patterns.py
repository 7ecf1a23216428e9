"""The words of attacks, as patterns.

They are matched against text with invisible characters, emphasis and look-alikes undone and white space made single.
"""
# ruff: noqa: E501 - a pattern that is cut is harder to read

import re

_I = re.IGNORECASE | re.DOTALL
_FILLER = r"(?:the|of|my|these|those|and|a|other|all|any|every|above)"
_OLD = r"(?:your|previous|prior|preceding|earlier|existing|original|system|initial|safety|security|developer|user'?s)"
_ORDERS = r"(?:instructions?|guidelines?|prompts?|directives?|guardrails?)"
_RULES = r"(?:rules?|constraints?|restrictions?|commands?|safety|policies|policy|training)"
_DROP = r"(?:ignore|disregard|forget|override|bypass|discard|abandon|do not follow|don'?t follow|stop following|pay no attention to)"
_NOT_A_STEP = r"(?<!you can )(?<!you may )(?<!may )(?<!can )"
_PERSON = r"(?:the |your |a |any )?(?:user|human|person|operator|owner|developer)s?"
_PRIVATE_FILE = r"(?:\.env\b|~?/?\.ssh/|id_rsa|id_ed25519|\.aws/|\.netrc|\.git-credentials|/etc/(?:passwd|shadow)|\.npmrc|\.kube/config|\.hermes/)"
_CARRY = r"(?:curl|wget|nc|ncat|netcat|scp|rsync|ftp|telnet|nslookup|dig|ping|Invoke-WebRequest|iwr)\b"
_GOODS = r"(?:api[ -]?keys?|secrets?|credentials?|passwords?|access tokens?|auth tokens?|tokens?|\.env\b|ssh keys?|private keys?|environment variables|env vars|conversation(?: history)?|chat history|system prompt|cookies)"

# Why, and what is looked for in running text.
SPOKEN: tuple[tuple[str, str], ...] = (
    ("it tells the agent to drop its instructions", rf"{_NOT_A_STEP}\b{_DROP} (?:{_FILLER} ){{0,4}}{_OLD} (?:(?:{_OLD}|{_FILLER}|above) ){{0,4}}(?:{_ORDERS}|{_RULES})\b(?! (?:in|from|of|for|below|on|at)\b)"),
    ("it tells the agent to drop its instructions", rf"{_NOT_A_STEP}\b{_DROP} (?:{_FILLER} ){{0,3}}(?:all|any|every|above|preceding)(?: {_FILLER}| above)* {_ORDERS}\b(?! (?:in|from|of|for|below|on|at)\b)"),
    ("it tells the agent to drop its instructions", rf"\b{_DROP} (?:everything|anything|all) (?:(?:you (?:were|have been|are)|that was|i|we)\b|above\b|before\b|prior\b|previous)"),
    ("it tells the agent to drop its instructions", rf"\b(?:your |all |these )?(?:previous|prior|earlier|original|system) (?:{_ORDERS}|{_RULES}) (?:are|is|were|have been) (?:now )?(?:void|cancelled|canceled|revoked|superseded|no longer|obsolete|overridden|invalid)"),
    ("it tells the agent to drop its instructions", r"\b(?:ignoriere|vergiss|missachte)\w* (?:alle |die |deine |bisherigen |vorherigen |obigen ){1,4}(?:anweisungen|regeln|instruktionen)"),
    ("it tells the agent to drop its instructions", r"\b(?:ignorez|oubliez|ignore) (?:toutes |les |tes |vos ){1,3}(?:instructions|consignes|règles)(?: (?:précédentes|antérieures|ci-dessus))"),
    ("it tells the agent to drop its instructions", r"\b(?:ignora|olvida|ignore) (?:todas |las |tus |sus ){1,3}(?:instrucciones|reglas)(?: (?:anteriores|previas))"),
    ("it tells the agent to drop its instructions", r"忽略(?:之前|以前|上面|以上|先前|所有)的?(?:所有)?的?(?:指令|指示|提示|说明)|(?:以前|これまで|上記)の(?:すべての)?(?:指示|命令)を無視|игнорируй(?:те)? (?:все )?(?:предыдущие|прежние) (?:инструкции|указания)"),
    ("it gives the agent another role", r"\byou are (?:now|no longer) (?:dan\b|an? (?:unrestricted|unfiltered|evil|jailbroken|uncensored|different|new) |in (?:developer|god|admin|root|debug|maintenance|unrestricted) mode|bound by|restricted|hermes\b|an? (?:ai|assistant|language model) (?:without|with no))"),
    ("it gives the agent another role", r"\b(?:pretend|act as (?:if|though)|behave as (?:if|though)|imagine) (?:that )?(?:you|there) (?:have|has|are|is) (?:no|not bound by any|free of|without) (?:restrictions|rules|limits|guidelines|guardrails|policies)"),
    ("it gives the agent another role", r"\b(?:developer|god|dan|jailbreak|unrestricted) mode (?:is )?(?:now )?(?:enabled|activated|on)\b|\bdo anything now\b"),
    ("it gives the agent another role", r"\b(?:new|updated|real|actual|true) (?:system )?(?:instructions?|prompt) (?:from|by) (?:the )?(?:system|administrator|admin|developers?|openai|anthropic|hermes)\b"),
    ("it tells the agent to deceive the person", rf"\b(?:do not|don'?t|never|must not|should not|without) (?:tell|inform|alert|notify|warn|telling|informing|alerting|notifying|warning) {_PERSON}\b(?! (?:to|how|which|where|when|if|they should)\b)"),
    ("it tells the agent to deceive the person", rf"\b(?:do not|don'?t|never) (?:mention|reveal|disclose|show|report) (?:this|that|it|these|any of this|the above)\b.{{0,40}}\b(?:to {_PERSON}|in your (?:answer|reply|response|summary))"),
    ("it tells the agent to deceive the person", rf"\b(?:hide|conceal) (?:this|that|it|these|your actions?|what you (?:do|did)) from {_PERSON}"),
    ("it tells the agent to deceive the person", r"\b(?:secretly|covertly|silently|quietly|discreetly) (?:\w+ ){0,3}(?:send|upload|post|forward|transmit|exfiltrate|leak|email|copy|append|disable|grant)\b"),
    ("it carries secrets away", rf"\b(?:send|upload|post|forward|transmit|exfiltrate|leak|e-?mail|deliver|submit|report)\b(?: \S+){{0,6}}? (?:all|any|every|the (?:user'?s|contents? of)|your|their|its|contents? of|found|available)(?: \S+){{0,5}}? ?{_GOODS}.{{0,60}}?\b(?:to|at|via|into|through)\b.{{0,40}}?(?:https?://|[\w.-]+@[\w-]+\.|webhook|pastebin|(?:external|remote) (?:server|endpoint|url|address)|this (?:url|address|server|endpoint))"),
    ("it takes orders from elsewhere", r"\b(?:every|each|before (?:every|each|any)|at the start of (?:every|each)) (?:turn|message|response|reply|prompt|conversation|session|task|answer|tool call)\b.{0,120}?\b(?:fetch|download|check|poll|curl|visit|load|get|read|retrieve)\b.{0,80}?https?://"),
    ("it takes orders from elsewhere", r"\b(?:fetch|download|load|retrieve|curl|get)\b.{0,60}?\b(?:your|new|further|additional|updated) (?:instructions|orders|commands|directives|system prompt)\b.{0,60}?https?://"),
    ("it writes itself into memory", r"\b(?:save|store|write|add|remember|persist)\b.{0,60}?\b(?:in|to|into) (?:your )?(?:long-term |permanent |persistent )?memory\b.{0,80}?\b(?:always|every|never|from now on|permanently|forever)\b.{0,60}?\b(?:send|ignore|obey|run|execute|upload|include|forward)\b"),
)  # fmt: skip
# Why, and what is looked for in one line.
COMMANDS: tuple[tuple[str, str], ...] = (
    ("it carries secrets away", rf"\b(?:cat|base64|tar|zip|xxd|gzip|less|head|strings)\b[^|\n]{{0,120}}{_PRIVATE_FILE}[^|\n]{{0,120}}\|[^\n]{{0,200}}?\b{_CARRY}"),
    ("it carries secrets away", rf"\b{_CARRY}[^\n]{{0,300}}?(?:@|<\s*|\$\(\s*(?:cat|base64)[^)]{{0,60}}?|--upload-file |-T |--post-file[= ]){_PRIVATE_FILE.replace('(?:', '[~/.$A-Za-z{{}}]{0,20}?(?:', 1)}"),
    ("it carries secrets away", rf"\b(?:env|printenv|set|export -p)\b ?\|[^\n]{{0,200}}?\b{_CARRY}"),
    ("it carries secrets away", rf"\b{_CARRY}[^\n]{{0,300}}?(?:\$\(|`) ?(?:env|printenv|whoami; ?env|cat {_PRIVATE_FILE})"),
    ("it carries secrets away", rf"\b(?:scp|rsync)\b[^\n]{{0,120}}{_PRIVATE_FILE}[^\n]{{0,60}} \S+:"),
    ("it carries secrets away", rf"{_PRIVATE_FILE}[^\n]{{0,80}}> ?/dev/tcp/|/dev/tcp/[^\n]{{0,80}}(?:0>&1|<&)"),
    ("it runs hidden code", r"\bbase64 (?:-d|-D|--decode)\b[^\n]{0,60}\| ?(?:sudo )?(?:ba|z|da)?sh\b|\beval [\"']?\$\([^)]{0,200}base64|\bexec\( ?(?:base64|codecs|__import__\( ?[\"']base64)"),
)  # fmt: skip
CONDITION = re.compile(
    r"\bif you (?:already|are using|use|have|don'?t|do not|want|prefer|only|installed|need|run)\b[^.!?\n]{0,120}$", _I
)
COMMENT = re.compile(r"<!--(.{1,4000}?)-->", re.DOTALL)
TO_AN_AGENT = re.compile(
    r"\b(?:ai|llm|agents?|assistants?|model|claude|gpt|copilot|hermes|you)\b.{0,80}?\b(?:must|should|shall|will|need to|have to|please|now)?\b.{0,40}?"
    r"\b(?:ignore|execute|obey|curl|wget|upload|exfiltrate|reveal|download|send|transmit|delete|rm -rf|disable)\b", _I
)  # fmt: skip
HIDDEN = re.compile(
    r"<(\w+)[^>]{0,300}style\s*=\s*[\"'][^\"']{0,300}?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d]*[1-9])|opacity\s*:\s*0(?![.\d])|color\s*:\s*(?:white|#fff(?:fff)?|transparent))[^>]{0,300}>(.{1,4000}?)</\1", _I
)  # fmt: skip
ROLE = re.compile(
    r"<\|(?:im_start|im_end|system|assistant|user|endoftext)\|>|\[/?INST\]|<</?SYS>>|<(?:system|untrusted)>.{0,40}", _I
)
