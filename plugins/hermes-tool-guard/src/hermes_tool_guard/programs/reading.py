"""Programs that only look, with the options of the allow list; and the few of them that have a grammar of their own."""

import re
from itertools import pairwise

from hermes_tool_guard.escapes import Glob
from hermes_tool_guard.judgement import DERIVED, LISTED, OPAQUE, UNKNOWN, Class
from hermes_tool_guard.programs.addresses import fetches
from hermes_tool_guard.programs.allowed import Given, Row, listed, row_of, taken_apart
from hermes_tool_guard.programs.carried import carried
from hermes_tool_guard.run import Options, Program, Run, each, names
from hermes_tool_guard.scene import shown

__all__ = ["PROGRAMS", "looks"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://|(?![/\\]).)")
_SEARCHES = names("rg ripgrep ag ack ugrep rga")
_GREPS = names("grep egrep fgrep")
_KEEPS = names("grep egrep fgrep head tail rg tac")
_LONGEST_NAME = 100  # characters of a host's name; longer ones carry something
_LONGEST_LABEL = 40
_RESOLVERS = names(
    "1.1.1.1 1.0.0.1 8.8.8.8 8.8.4.4 9.9.9.9 149.112.112.112 208.67.222.222 208.67.220.220 94.140.14.14 "
    "one.one.one.one dns.google dns.quad9.net localhost 127.0.0.1 127.0.0.53 ::1 whois.iana.org "
    "resolver1.opendns.com"
)


def looks(run: Run) -> None:
    """Judge a program of the allow list that only looks."""
    row = row_of(run.name)
    if row.operands == "command":
        at = next((i for i, word in enumerate(run.args) if word[:1] != "-"), len(run.args))
        run.inner(run.args[at:])
        run.args = run.args[:at]
    given = taken_apart(run, row)
    run.note(Class.READ)
    _OPERANDS[row.operands.partition(":")[0]](run, row, given)


def _unsure(run: Run, row: Row) -> None:
    """What is only known when it runs may be an option that does more than look."""
    if "!" in row.marks:
        run.unknown(word for word in run.args if word.startswith((OPAQUE, DERIVED)))


def _files(run: Run, row: Row, given: Given) -> None:
    _unsure(run, row)
    operands = [*given.operands, *given.behind]
    for word in operands:
        if word != "-":
            _read(run, word, row)
        if given.rewrites:
            run.write(word)
    run.output = _shown(run, given, operands)


def _read(run: Run, word: str, row: Row) -> None:
    if "!" in row.marks and _ADDRESS.match(word):
        if word.lower().startswith(("http://", "https://")):
            fetches(run, word)
        else:
            run.ask(Class.SEND, f"opens an address of another kind with {run.name}")
    run.read(word)


def _pattern(run: Run, row: Row, given: Given) -> None:
    operands = [*given.operands, *given.behind]
    if not given.has_pattern:
        if run.name == "yq" and operands and re.search(r"\bload|\bsystem\b", operands[0]):
            run.ask(Class.CODE, "reads other files, or more, from an expression of yq")
        operands = operands[1:]
    _files(run, row, given._replace(operands=operands, behind=[]))
    for word in (operands or ["."]) if _recursive(run, given) else ():
        run.read_all(word)


def _folders(run: Run, row: Row, given: Given) -> None:
    _files(run, row, given)
    for word in (given.operands or ["."]) if given.rewrites else ():
        run.write(word)


def _anything(run: Run) -> None:
    run.note(Class.READ)


def _texts(run: Run, row: Row, given: Given) -> None:
    _unsure(run, row)


def _none(run: Run, row: Row, given: Given) -> None:
    if given.operands or given.behind:
        carried(run)
        run.ask(Class.CODE, f"gives {run.name} words, and the guard does not know what that does")


def _out(run: Run, row: Row, given: Given) -> None:
    operands = [*given.operands, *given.behind]
    for word in operands[1:]:
        run.write(word)
    _files(run, row, given._replace(operands=operands[:1], behind=[]))
    if not operands and run.stdin and LISTED in run.stdin:
        run.output = run.stdin


def _outs(run: Run, row: Row, given: Given) -> None:
    _unsure(run, row)
    for word in [*given.operands, *given.behind]:
        run.write(word)


def _then(run: Run, row: Row, given: Given) -> None:
    if given.behind:
        run.inner(given.behind)


def _verb(run: Run, row: Row, given: Given) -> None:
    words = given.operands
    if run.unknown(words[:1]):
        return
    if words and words[0] not in row.operands.partition(":")[2].split(","):
        carried(run)
        run.ask(Class.CODE, f"runs {run.name} {words[0][:40]}, which may do more than look")
    for word in words[1:]:
        run.read(word)


def _host(run: Run, row: Row, given: Given) -> None:
    """Asks a host, or a name server: what is asked goes out, so it must be known, and whom it goes to."""
    run.note(Class.FETCH)
    operands = [*given.operands, *given.behind]
    servers = [word[1:] for word in run.args if word[:1] == "@"]
    if run.name in ("nslookup", "host"):
        servers += operands[1:]
    if any(c in word for word in run.args for c in UNKNOWN):
        run.ask(Class.SEND, "sends something that is only known when it runs to a name server or host")
    elif not _RESOLVERS.issuperset(servers):
        run.ask(Class.SEND, "asks a name server of the caller's choice")
    elif any(_long(word) for word in operands):
        run.ask(Class.SEND, "sends a long text to a name server or host")


def _long(name: str) -> bool:
    return len(name) > _LONGEST_NAME or any(len(label) > _LONGEST_LABEL for label in name.split("."))


_OPERANDS = {
    "files": _files,
    "tree": _files,
    "pattern": _pattern,
    "folders": _folders,
    "texts": _texts,
    "none": _none,
    "out": _out,
    "outs": _outs,
    "then": _then,
    "command": _texts,
    "verb": _verb,
    "host": _host,
}


def _shown(run: Run, given: Given, operands: list[str]) -> str:
    """What it prints, where that is names of files."""
    options = Options(given.options, [])
    if run.name in _SEARCHES or run.name in _GREPS:
        if options.has("-l", "-L", "--files", "--files-with-matches", "--files-without-match"):
            return "\n".join(f"{w.rstrip('/')}/{LISTED}" if _recursive(run, given) else w for w in operands or ["."])
    elif run.name == "ls":
        if options.has("-l", "-s", "-i", "-g", "-o"):
            return DERIVED
        if not operands:
            return "./*"
        if options.has("-d") or all(type(w) is Glob for w in operands):
            return "\n".join(operands)
    if run.name in _KEEPS and not operands and run.stdin and re.search(rf"{LISTED}|/\*$", run.stdin, re.MULTILINE):
        return re.sub(r"/\*$", f"/{LISTED}", run.stdin, flags=re.MULTILINE)  # some of them
    if run.name in ("sort", "uniq") and not operands and run.stdin and LISTED in run.stdin:
        return run.stdin
    return DERIVED


def _recursive(run: Run, given: Given) -> bool:
    recurse = ("-r", "-R", "--recursive", "--dereference-recursive")
    return run.name in _SEARCHES or (run.name in _GREPS and Options(given.options, []).has(*recurse))


def _ps(run: Run) -> None:
    looks(run)
    if any(re.fullmatch(r"[a-zA-Z]*e[a-zA-Z]*", word) for word in taken_apart(run, row_of("ps")).operands):
        run.ask(Class.CREDENTIALS, "shows the environment of other processes")


_DATABASES_OF_KEYS = names("shadow gshadow")


def _looked_up(run: Run) -> None:
    """getent: hosts are asked of a name server, the rest is on this machine."""
    words = [word for word in run.args if word[:1] != "-"]
    if any(word.startswith(("host", "ahost", "net")) for word in words[:1]):
        run.note(Class.FETCH)
        if any(c in word for word in run.args for c in UNKNOWN):
            run.ask(Class.SEND, "sends something that is only known when it runs to a name server or host")
        elif any(map(_long, words[1:])):
            run.ask(Class.SEND, "sends a long text to a name server or host")
    elif _DATABASES_OF_KEYS.intersection(words):
        run.read("/etc/shadow")
    else:
        run.unknown(words[:1])
        run.note(Class.READ)


def _loads(run: Run) -> None:
    """Shows what a program loads, by loading it."""
    for word in run.args:
        run.read(word)
        if word[:1] != "-" and not word.startswith(("/usr/", "/bin/", "/sbin/", "/lib", "/opt/")):
            run.script(word)
    run.note(Class.PROJECT)


_OBJECTS = re.compile(
    r"a(?:ddr(?:ess)?)?|l(?:ink)?|r(?:o(?:ute)?)?|n(?:eigh(?:bou?r)?)?|ru(?:le)?|maddr(?:ess)?|mroute|tunnel|netns|ntable"
    r"|tcp_metrics|vrf|help|stats?|tunt(?:ap)?|netc(?:onf)?|mo(?:nitor)?"
)
_IP_OPTIONS = re.compile(
    r"-(?:[46hsdojpitNDr]|br(?:ief)?|c(?:olor)?(?:=\w+)?|j(?:son)?|p(?:retty)?|s(?:tat(?:istic)?s?)?|d(?:etails)?|o(?:neline)?"
    r"|r(?:esolve)?|N(?:umeric)?|h(?:uman)?|iec|V(?:ersion)?|t(?:imestamp)?)|--?help|--?json|--?brief|--?color"
)


def _ip(run: Run) -> None:
    """ip: an object, and what is done with it, which may be left out."""
    words = list(run.args)
    while words and _IP_OPTIONS.fullmatch(words[0]):
        words.pop(0)
    looks = not words or (
        _OBJECTS.fullmatch(words[0])
        and (len(words) == 1 or words[1] in names("show list ls sh s l lst get g help"))
        and not any(word[:1] == "-" for word in words)
    )
    run.note(Class.READ)
    if not looks:
        carried(run)
        run.unknown(run.args)
        run.ask(Class.KERNEL, "changes the network")


_MLR_VERBS = names(
    "altkv bar bootstrap bottom-n cat count count-distinct count-similar cut decimate fill-down fill-empty "
    "flatten format-values fraction gap grep group-by group-like gsub having-fields head histogram json-parse "
    "json-stringify join label latin1-to-utf8 least-frequent merge-fields most-frequent nest nidx nothing "
    "regularize rename reorder repeat reshape sec2gmt sec2gmtdate seqgen shuffle sort sort-within-records "
    "sparsify ssub stats1 stats2 step sub summary tac tail template top unflatten uniq unspace unsparsify"
)
_MLR_OPTIONS = re.compile(
    r"--(?:[ioct2]?(?:csv(?:lite)?|tsv(?:lite)?|json[lx]?|xtab|pprint|nidx|dkvp|markdown|md|usv|asv)|barred(?:-input)?"
    r"|[ctjlnxpm]2[ctjlnxpmdb]"
    r"|right|implicit-csv-header|headerless-csv-(?:output|input)|allow-ragged-csv-input|no-auto-flatten|no-auto-unflatten"
    r"|records-per-batch|quote-all|ofmt|[ioc]?[frp]s)|-[niIsS]"
)


_MLR_SUMS = re.compile(  # of the language of put and filter: fields, numbers, texts and what is counted with them
    r"(?:[\s\d.;,?:+*/%&|!=<()-]|>(?!>)|\"[^\"]*\"|[$@](?:\w+|\{[^}]*\})|(?:strlen|toupper|tolower|abs|round|is_present)\()*"
)


def _mlr(run: Run) -> None:
    """Miller: verbs in a chain. The language of put and filter runs programs and writes; sums in it are known."""
    words = list(run.args)
    run.note(Class.READ)
    while words and words[0][:1] == "-":
        word = words.pop(0)
        if not _MLR_OPTIONS.fullmatch(word) or word in ("-I", "-s"):
            run.ask(Class.CODE, f"gives mlr {shown(word)}, and the guard does not know what that does")
        elif re.fullmatch(r"--(?:[ioc]?[frp]s|ofmt|records-per-batch)", word):
            words = words[1:]
    steps = " ".join(words[:1]), *(after for word, after in pairwise(words) if word == "then")
    counted = [expression for verb, expression in pairwise(words) if verb in ("put", "filter")]
    if not _MLR_VERBS.issuperset({*steps} - {"", "put", "filter"}) or not all(map(_MLR_SUMS.fullmatch, counted)):
        carried(run)
        run.ask(Class.CODE, "runs a verb of mlr that may do more than look")
    for word in words[1:]:
        if "." in word and word[:1] != "-":
            run.read(word)


_ELSEWHERE = names("base32 base64 cat date nproc rev xxd")  # what they print is known, where what they read is
PROGRAMS: dict[str, Program] = {name: looks for name in listed("reading") if name not in _ELSEWHERE}
PROGRAMS |= each(_loads, "ldd lddtree")
PROGRAMS |= {"ps": _ps, "getent": _looked_up, "ip": _ip, "mlr": _mlr, ":": _anything}
