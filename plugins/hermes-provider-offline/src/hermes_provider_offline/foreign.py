"""The same basic verbs in German, Spanish, French, Korean, Japanese and Chinese: a table, read from top"
" to bottom."""

import re

from hermes_provider_offline.clause import Clause
from hermes_provider_offline.names import files_in
from hermes_provider_offline.step import Step

_P = r"(?P<path>[\w./~@+-]+\.[A-Za-z0-9]{1,10}|[\w./~@+-]+/)"
_TABLE = (
    ("remember", r"(?:merk(?:e)?|notier(?:e)?)\s+(?:dir|mir)?[,:]?\s*(?:bitte\s+)?(?:dass\s+|:)?(?P<text>.+)"),
    (
        "remember",
        (
            r"(?:recuerda|no olvides)\s+(?:que\s+)?(?P<text>.+)|(?:souviens-toi|rappelle-toi|retiens|n'oublie"
            r" pas)\s+(?:que\s+|qu')?(?P<text2>.+)"
        ),
    ),
    (
        "remember",
        (
            r"(?P<text>.+?)(?:을|를|라고|다고|는 ?것을|은 ?것을|다는 ?걸|는 ?걸)?\s*기억해.*|기억해\s*(?:줘|둬"
            r"|라)?\s*:\s*(?P<text2>.+)"
        ),
    ),
    (
        "remember",
        (
            r"(?P<text>.+?)(?:ということ)?(?:を|って|と)\s*覚えて.*|(?:请|請)?(?:记住|記住"
            r"|记得)[:：,，]?\s*(?P<text2>.+)"
        ),
    ),
    (
        "forget",
        (
            r"vergiss\s+(?:bitte\s+)?(?P<text>.+)|(?:olvida|oublie)\s+(?P<text2>.+)|(?P<text3>.+?)(?:을"
            r"|를)?\s*잊어.*|(?P<text4>.+?)を?忘れて.*|忘(?:记|掉|了)(?P<text5>.+)"
        ),
    ),
    (
        "sessions",
        (
            r"(?:was|worüber|wann) haben wir\b.*?(?:über\s+(?P<text>.+?))?(?:\s+(?:gesagt|gesprochen"
            r"|geredet))?|(?:qué|que) (?:dijimos|hablamos) (?:sobre|de)\s+(?P<text2>.+)|qu'(?:avons-nous"
            r"|est-ce qu'on a) dit (?:sur|de)\s+(?P<text3>.+)"
        ),
    ),
    (
        "sessions",
        (
            r"(?:지난\S*\s*|저번에\s*|전에\s*)*(?:우리(?:가)?\s*)?(?P<text>\S+?)(?:에 ?대해|에"
            r" ?관해).*(?:말|얘기|이야기|대화|뭐라고).*"
            r"|(?P<text2>\S+?)について.*(?:話し|言っ|言い).*|我们.*?(?:说|聊|谈|讨论)(?:过"
            r"|了)?(?:什么)?(?:关于)?(?P<text3>\S*?)(?:的(?:什么|事))?"
        ),
    ),
    (
        "question",
        (
            r"(?:wie (?:heißt|heißen|heisst)|was (?:ist|sind)|wo (?:ist|wohne)|wer (?:ist"
            r"|bin))\b.*\b(?:mein\w*|ich)\b.*|(?:cuál|cómo|qué|quién|dónde)\b.*\bmi\b.*|(?:comment|quel\w*|qui"
            r"|où)\b.*\b(?:mon|ma|mes)\b.*"
        ),
    ),
    (
        "question",
        (
            r"(?:내|나의|제|우리)\s+.+(?:뭐|무엇|이름|누구|어디|언제).*|(?:私|僕|俺)の.+(?:何|誰|どこ|いつ"
            r"|名前).*|我的?.+(?:什么|谁|哪|叫|几).*"
        ),
    ),
    (
        "run",
        (
            r"(?:führe?|starte?)\s+(?P<code>\ue000\d+\ue001)(?:\s+aus)?|(?:ejecuta|corre|exécute"
            r"|lance)\s+(?P<code2>\ue000\d+\ue001)|(?P<code3>\ue000\d+\ue001)\s*(?:을|를)?\s*(?:실행|돌려).*"
            r"|(?P<code4>\ue000\d+\ue001)\s*を?実行.*|(?:运行|執行|执行)\s*(?P<code5>\ue000\d+\ue001)"
        ),
    ),
    ("append", rf"(?:häng\w*|füge)\s+(?P<text>.+?)\s+an\s+{_P}(?:\s+an)?"),
    ("write", rf"(?:schreib\w*|speicher\w*)\s+(?P<text>.+?)\s+(?:in|nach)\s+(?:die datei\s+)?{_P}"),
    (
        "write",
        (
            rf"(?:escribe|guarda)\s+(?P<text>.+?)\s+en\s+(?:el archivo\s+)?{_P}|(?:écris"
            rf"|enregistre)\s+(?P<text2>.+?)\s+dans\s+(?:le fichier\s+)?{_P.replace('path', 'path2')}"
        ),
    ),
    (
        "write",
        (
            rf"{_P}\s*(?:파일)?에\s*(?P<text>.+?)(?:이라고|라고|을|를)?\s*(?:써|쓰|적어|작성|저장).*|"
            rf"{_P.replace('path', 'path2')}\s*に\s*(?P<text2>.+?)\s*(?:と|を)\s*(?:書|保存).*"
        ),
    ),
    (
        "write",
        (
            rf"(?:把|将|將)\s*(?P<text>.+?)\s*(?:写入|写到|写进|保存到|存到)\s*{_P}.*|在?\s*"
            rf"{_P.replace('path', 'path2')}\s*(?:中|里)?(?:写入|写上)\s*(?P<text2>.+)"
        ),
    ),
    (
        "search",
        (
            r"such\w*\s+(?:nach\s+)?(?P<text>.+?)(?:\s+in\s+(?P<path>\S+))?"
            r"|busca\s+(?P<text2>.+?)(?:\s+en\s+(?P<path2>\S+))?"
            r"|cherche\s+(?P<text3>.+?)(?:\s+dans\s+(?P<path3>\S+))?"
        ),
    ),
    (
        "search",
        (
            r"(?:(?P<path>[\w./~-]+?)(?:\s*(?:폴더|디렉터리))?에서\s*)?(?P<text>\S+?)(?:을|를)?\s*(?:검색|찾아).*"
            r"|(?:(?P<path2>[\w./~-]+?)(?:フォルダ)?で\s*)?(?P<text2>[^\sをで]+)\s*を?\s*(?:検索|探して).*"
        ),
    ),
    (
        "search",
        r"(?:在\s*(?P<path>[\w./~-]+?)\s*(?:文件夹|目录)?(?:中|里|裡)?\s*)?(?:搜索|搜尋|查找|搜寻)\s*(?P<text>\S+)",
    ),
    ("headings", r".*(?:überschriften|encabezados|títulos|titres|제목|見出し|标题|標題).*"),
    (
        "list",
        (
            r"(?:liste?|zeig\w*)\b.*\b(?:dateien|ordner|verzeichnis)\b.*|welche dateien.*|(?:lista|muestra"
            r"|enumera)\b.*\b(?:archivos|ficheros|carpeta)\b.*|(?:liste|montre|affiche)\b.*\b(?:fichiers"
            r"|dossier)\b.*"
        ),
    ),
    (
        "list",
        (
            r".*(?:파일|폴더).*(?:목록|보여|나열|리스트|뭐가 있).*|.*(?:ファイル|フォルダ).*(?:一覧|リスト"
            r"|見せて|表示).*|(?:列出|显示|顯示|查看).*(?:文件"
            r"|檔案|目录|文件夹).*|.*有(?:哪些|什么)文件.*"
        ),
    ),
    (
        "read",
        (
            r"(?:lies|lese|öffne|zeige?)\b.*|(?:lee|abre|muestra)\b.*|(?:lis|ouvre|montre|affiche)\b.*|.*(?:읽어"
            r"|열어|보여).*|.*(?:読んで|読む|開いて|見せて|表示).*|(?:读|讀|打开|打開|查看|阅读|显示).*"
        ),
    ),
)


def foreign_rule(clause: Clause) -> Step | None:
    """The first row whose pattern is the whole clause; rows about files count only when a file is named."""
    for kind, pattern in _TABLE:
        found = re.fullmatch(pattern, clause.text.strip(), re.IGNORECASE | re.DOTALL)
        if found and (step := _step(kind, clause, _slots(found))):
            return step
    return None


def _slots(found: "re.Match[str]") -> dict[str, str]:
    return {name.rstrip("2345"): value for name, value in found.groupdict().items() if value}


def _step(kind: str, clause: Clause, slots: dict[str, str]) -> Step | None:
    files = files_in(clause)
    text = clause.bare(slots.get("text", "")).strip()
    if kind == "read":
        return Step(kind=kind, path=files[0]) if files else None
    if kind == "headings":
        return Step(kind=kind, path=files[0] if files else "", here=not files)
    if kind == "run":
        return Step(kind=kind, text=clause.bare(slots["code"]))
    if kind == "question":
        return Step(kind=kind, text=clause.bare(clause.text))
    if kind == "list":
        return None if files and not files[0].endswith("/") else Step(kind=kind, path=files[0] if files else "")
    if kind == "sessions":
        return Step(kind=kind, text=text)
    return Step(kind=kind, text=text, path=slots.get("path", "")) if text else None
