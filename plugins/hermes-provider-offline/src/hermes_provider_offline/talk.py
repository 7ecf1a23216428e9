"""Small talk: greetings, thanks, what it is, what it can do, the time."""

import re

from hermes_provider_offline.clause import Clause
from hermes_provider_offline.step import Step

_TALK = (
    (
        "help",
        (
            r"help(?: me)?|\?+|(?:what|which)(?: \w+){0,2} (?:can|could) (?:you|i|this|it) (?:do|ask|say|type"
            r"|try|help).*|what (?:else )?(?:can|do) you do.*|what are you able to do"
            r"|how do (?:i|you) (?:use|work).*|(?:list|show)(?: me)? (?:your |the )?(?:commands|abilities"
            r"|skills|tools|rules)|(?:what|which) tools.*|what do you understand"
            r"|hilfe|was kannst du.*|ayuda|¿?qu[eé] puedes hacer.*|aide|aidez-moi|que (?:peux|sais)-tu faire.*"
            r"|도움말|도와줘|(?:뭐|무엇|뭘).*(?:할 수|하니|해\?).*|ヘルプ|何ができ.*|你?能做什么.*"
            r"|你会(?:做)?什么.*|帮助"
        ),
    ),
    (
        "identity",
        (
            r"(?:who|what) are you.*|are you (?:an? )?(?:ai|llm|language model|model|human|bot|robot|real"
            r"|chatgpt|claude|gpt).*|what(?:'s| is) your name|(?:which|what) (?:ai |language )?model.*"
            r"|introduce yourself"
            r"|wer bist du|bist du ein.*|¿?qui[eé]n eres|qui es-tu|넌 누구.*|누구(?:세요|니|야)|(?:あなた"
            r"|君)は(?:誰|だれ|何).*"
            r"|你是谁.*|你是什么.*"
        ),
    ),
    (
        "connect",
        (
            r"(?:how (?:do|can) i )?(?:connect|use|add|set ?up|configure|choose|switch to|change)(?: to)?"
            r" (?:an? |the |another )?(?:real )?(?:language )?(?:model|llm|provider|api key).*"
        ),
    ),
    (
        "greet",
        (
            r"(?:hi|hello|hey|hiya|yo|howdy|greetings|good (?:morning|afternoon|evening|day))(?:[ ,]+(?:there"
            r"|hermes|all|you|friend))?|how are you(?: doing| today)*"
            r"|hallo|guten (?:tag|morgen|abend)|moin|servus|hola|buen[oa]s? (?:d[ií]as|tardes|noches)|bonjour"
            r"|salut|bonsoir|안녕(?:하세요|하십니까)?|こんにちは|こんばんは|おはよう(?:ございます)?|你好"
            r"|您好|嗨|早上好"
        ),
    ),
    (
        "thanks",
        (
            r"(?:many )?thank(?:s| you)(?: (?:so|very) much| a lot)?|thx|cheers|great|nice|perfect|good job"
            r"|well done|danke(?: schön)?|gracias|merci(?: beaucoup)?|고마워(?:요)?|감사합니다"
            r"|ありがとう(?:ございます)?|谢谢(?:你)?"
        ),
    ),
    ("bye", r"(?:good ?)?bye|see you.*|quit|exit|tschüss|adi[oó]s|au revoir|안녕히.*|さようなら|再见"),
    (
        "time",
        (
            r"(?:what(?:'s| is)|tell me|show(?: me)?|give me|say)?\s*(?:the\s+)?(?:current\s+)?(?:time"
            r"|date)(?: and (?:the )?(?:date|time))?(?:\s+is\s+it|\s+now|\s+today)*|what time is it.*|(?:what"
            r"|which) day is (?:it|today).*|what(?:'s| is) today(?:'s date)?.*|today'?s date"
            r"|wie spät ist es|wie viel uhr.*|welcher tag.*|¿?qu[eé] hora es|quelle heure.*|몇 ?시.*|오늘"
            r" (?:며칠|무슨"
            r" 요일|날짜).*|(?:今|いま)?何時.*|今日は何.*|现在几点.*|几点了?|今天(?:几号|星期几|日期).*"
        ),
    ),
)


def talk_rule(clause: Clause) -> Step | None:
    """Small talk is matched as a whole, so that it never swallows a request."""
    words = clause.text.strip(" ¡¿!?.,~。！？、")
    for kind, pattern in _TALK:
        if re.fullmatch(pattern, words or clause.text, re.IGNORECASE | re.DOTALL):
            return Step(kind=kind)
    return None
