"""Bytes of a page as text, in the encoding it says, or else in one that fits."""

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# Python knows codecs that are none of the web's, and some that take for ever or run what they read.
_OF_THE_WEB = re.compile(
    r"utf-?8|utf-?16(-?[bl]e)?|utf-?32(-?[bl]e)?|(us-?)?ascii|iso-?8859-?\d+|latin-?\d+|windows-?\d+|cp-?\d+|koi8-?[rut]"
    r"|macintosh|mac-?roman|gb-?2312|gbk|gb-?18030|big5(-?hkscs)?|shift-?jis|sjis|euc-?(jp|kr)|iso-?2022-?(jp|kr)|tis-?620"
)
# What pages call so is the larger one, as every browser reads it.
_MEANT = {"iso88591": "cp1252", "latin1": "cp1252", "ascii": "cp1252", "usascii": "cp1252", "gb2312": "gb18030"}
_MEANT |= {"gbk": "gb18030", "shiftjis": "cp932", "sjis": "cp932", "euckr": "cp949", "macintosh": "mac_roman"}
_ODD = bytes(byte for byte in range(32) if byte < 9 or (byte > 13 and byte != 27))  # of no text
_IN_PAGE = re.compile(
    rb"""<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]{2,30})""", re.IGNORECASE
)


def decode(data: bytes, said: str) -> str:
    """The text of a body. ``said`` is the charset of its content type, or empty. Nothing is refused."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    found = _IN_PAGE.search(data[:2_048])
    for name in (said, found[1].decode("ascii") if found else ""):
        if encoding := known(name):
            return data.decode(encoding, "replace")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if error.start > len(data) - 4:  # only the end was cut in the middle of a character
            return data.decode(errors="replace")
        return data.decode("cp1252", "replace")


def known(name: str) -> str:
    """Python's name of an encoding of the web, or an empty string."""
    plain = name.strip().lower().replace("_", "-").removeprefix("x-")
    if not _OF_THE_WEB.fullmatch(plain):
        return ""
    encoding = _MEANT.get(plain.replace("-", ""), plain)
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return ""


def is_binary(data: bytes) -> bool:
    """Whether a body is no text, whatever its content type says."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return False
    head = data[:8_192]
    return len(head) - len(head.translate(None, _ODD)) > len(head) // 50
