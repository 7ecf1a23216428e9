"""Programs that only look, but for a few of their options."""

import re

from hermes_tool_guard.escapes import Glob
from hermes_tool_guard.judgement import DERIVED, LISTED, UNKNOWN, Class
from hermes_tool_guard.run import Program, Run, names

_FILES = names(
    "head tail wc grep egrep fgrep zgrep zegrep zfgrep rg ripgrep ag ack cut paste nl tac od hexdump "
    "strings md5sum md5 sha1sum sha224sum sha256sum sha384sum sha512sum shasum b2sum cksum sum jq yq "
    "xq tomlq zcat bzcat xzcat zstdcat less more most bat batcat cmp diff diff3 sdiff colordiff comm "
    "join look fold fmt expand unexpand column pr uniq sort tsort nm objdump readelf size iconv "
    "hexyl tree cloc scc tokei stat file exiftool identify mediainfo ffprobe zipinfo zdiff zcmp "
    "bzgrep xzgrep xzless zless delta difft dyff jless gron fx csvlook csvstat csvcut csvgrep "
    "csvsort mlr xsv qsv xmllint numfmt shuf tail multitail lnav shellcheck hadolint yamllint "
    "jsonlint actionlint checkmake aspell hunspell wdiff pcregrep pcre2grep ugrep sift rga zstdgrep "
    "envsubst crc32 xxhsum b3sum getfacl getfattr lsattr ls dir vdir exa eza lsd gcov lcov readtags "
    "global pygmentize highlight glow mdcat jsonschema check-jsonschema codespell typos vale "
    "proselint write-good protolint javap hlint diffstat ptx sloccount loc enca chardet chardetect isutf8 zipgrep "
    "zmore "
    "zipnote rpm2cpio html2text jc jid gitstats errno wn dict c++filt addr2line nm-size gprof interdiff basenc "
    "uuencode "
    "icdiff zbarimg jpeginfo cheat jsonpp hr pt ripsecrets dateutils csvclean csvformat csvjoin csvstack  "
    "  ent pup htmlq pdfgrep antiword catdoc unrtf odt2txt docx2txt plocate "
    "tokei-cli onefetch bc ndjson-cli toml2json yaml2json json2yaml jsonnet cue zgrep gzcat lzcat lz4cat brotlicat"
)
_FACTS = names(
    "whoami logname id groups who w last lastlog users cal ncal uptime uname arch free df du vmstat "
    "iostat mpstat sar pidstat lscpu lsblk lsusb lspci lsmem lsns lsipc lslocks lslogins lsmod lshw "
    "hostname hostnamectl timedatectl localectl getconf locale tty printenv ps pstree pgrep pidof "
    "top lsof ss netstat ip arp locate plocate mlocate whereis whatis apropos man info "
    "help basename dirname realpath readlink seq sleep expr bc factor true false test [ : yes tput "
    "clear reset tset history jobs wait times ulimit umask dirs domainname nisdomainname "
    "resolvectl nvidia-smi rocm-smi sensors "
    "acpi upower journalctl dmesg blkid findmnt cpuid lstopo procinfo slabtop neofetch fastfetch "
    "screenfetch xdpyinfo fc-list fc-match getopt getopts shift return exit break continue "
    "logout pathchk tabs ipcs runlevel systemd-analyze systemd-detect-virt systemd-cgls "
    "systemd-cgtop sw_vers system_profiler vm_stat mdfind mdls compgen complete caller fortune "
    "cowsay figlet lolcat units spell uuidgen mcookie tzselect zdump namei dpkg-query lsb_release "
    "inotifywait inotifywatch wait-for-it pv progress ts vainfo vulkaninfo glxinfo clinfo jstat "
    "jps jinfo jstack jmap duf dust procs ioreg btm btop htop glances iftop nethogs bandwhich gotop nvtop inxi "
    "hwinfo pg "
    "stty sl toilet banner jot infocmp dircolors getcap mountpoint sync pkg-config pkgconf perldoc systemd-resolve "
    "coredumpctl apg pwgen diceware colorls gping pfetch  "
    "    lstopo-no-graphics ncal gcal    "
)
# Options that make a looking program write or run something: whose, a pattern of them, what that is, and why.
_BUT_ROWS: tuple[tuple[str, str, Class, str], ...] = (
    ("rg", r"--(?:pre|hostname-bin|search-zip-with)(?:=.*|$)", Class.CODE, "runs another program on every file"),
    ("man", r"-[PHX]|--(?:pager|html|browser)", Class.CODE, "runs a pager of the caller's choice"),
    ("ag ack bat batcat", r"--pager|--output", Class.CODE, "runs a pager of the caller's choice"),
    ("less", r"-[oOkT]|--(?:log|LOG|lesskey|tag)|\+.*!", Class.CODE, "does more than show"),
    ("more", r"\+.*!", Class.CODE, "does more than show"),
    ("lnav", r"-c|-f", Class.CODE, "runs commands"),
    ("wait-for-it", r"--", Class.CODE, "runs another program"),
    (
        "mlr",
        r"-I|--prepipex?|(?:tee|split|system|exec)\b|.*\b(?:system|exec|tee|emit|dump)\b.*[>|(]",
        Class.CODE,
        "runs another program",
    ),
    ("compgen complete", r"-[A-Za-z]*C", Class.CODE, "runs a command of the caller's choice"),
    ("dmesg", r"-[a-zA-Z]*[CcDEn]|--(?:clear|read-clear|console)", Class.KERNEL, "changes the kernel's log"),
    ("date", r"-s|--set|--s|\d{8,}", Class.KERNEL, "sets the clock"),
    ("timedatectl", r"set-|revert", Class.KERNEL, "sets the clock"),
    ("hostnamectl", r"set-|hostname$", Class.KERNEL, "renames the machine"),
    ("localectl", r"set-", Class.KERNEL, "changes the locale"),
    ("resolvectl", r"dns|domain|flush|revert|log-level", Class.KERNEL, "changes name resolution"),
    ("arp", r"-[a-zA-Z]*[sdf]", Class.KERNEL, "changes the network"),
    (
        "ip",
        r"(?:add|del|delete|set|change|replace|flush|append|exec|attach|restore)$|-b$|-ba|--?batch",
        Class.KERNEL,
        "changes the network",
    ),
    (
        "nvidia-smi",
        r"-(?:pm|pl|r|c|e|ac|lgc|mig)$|--(?:gpu-reset|persistence|power|compute|applications)",
        Class.KERNEL,
        "changes the graphics card",
    ),
    (
        "journalctl",
        r"--(?:vacuum|rotate|flush|relinquish|setup|update|sync|smart)",
        Class.SERVICES,
        "changes the journal",
    ),
    ("systemd-analyze", r"set-|log-level", Class.SERVICES, "changes services"),
    ("ss", r"-[a-zA-Z]*K|--kill", Class.PROCESSES, "closes connections of others"),
    ("history", r"-[a-zA-Z]*[cdwanr]", Class.CREDENTIALS, "changes the record of what was done here"),
    ("inotifywait", r"-o|--outfile", Class.WRITE, "writes its output to a file"),
    ("sar", r"-o", Class.WRITE, "writes its output to a file"),
    ("xmllint", r"--(?:output|shell)", Class.WRITE, "writes its output to a file"),
    ("codespell typos", r"-w|--write", Class.WRITE, "changes files"),
)
_BUT = {name: (re.compile(form), what, why) for whose, form, what, why in _BUT_ROWS for name in whose.split()}


def _files(run: Run) -> None:
    """Reads the files it names. What is no file (a pattern, an option) is no harm to look at as one."""
    _but(run)
    run.note(Class.READ)
    operands = [word for word in run.args if word[:1] != "-" or len(word) == 1]
    if run.name in _PATTERN_FIRST and not any(a.startswith(("-e", "-f", "--regexp", "--file")) for a in run.args):
        operands = operands[1:]
    for word in operands:
        if word != "-":
            run.read(word)
    if run.name in _SEARCHES and _recursive(run):
        for word in operands or ["."]:
            run.read_all(word)
    run.output = _listed(run, operands)


def _listed(run: Run, operands: list[str]) -> str:
    """What it prints, where that is names of files."""
    if run.name in _SEARCHES:
        if any(_LISTS.match(a) for a in run.args):
            recursive = _recursive(run)
            return "\n".join(f"{w.rstrip('/')}/{LISTED}" if recursive else w for w in operands or ["."])
    elif run.name == "ls":
        if any(re.match(r"-[a-zA-Z]*[lsigo]", a) for a in run.args):
            return DERIVED
        if not operands:
            return "./*"
        if any("d" in a for a in run.args if re.match(r"-[a-zA-Z]+$", a)) or all(type(w) is Glob for w in operands):
            return "\n".join(operands)
    if run.name in _KEEPS and not operands and run.stdin and re.search(rf"{LISTED}|/\*$", run.stdin, re.MULTILINE):
        return re.sub(r"/\*$", f"/{LISTED}", run.stdin, flags=re.MULTILINE)  # some of them
    return DERIVED


_LISTS = re.compile(r"-[a-zA-Z]*[lL]|--files")
_KEEPS = names("grep egrep fgrep head tail rg tac")


_PATTERN_FIRST = names("grep egrep fgrep zgrep zegrep zfgrep rg ripgrep ag ack jq yq look pcregrep pcre2grep ugrep")
_SEARCHES = names("grep egrep fgrep rg ripgrep ag ack ugrep rga")


def _recursive(run: Run) -> bool:
    return "grep" not in run.name[-4:] or any(re.match(r"-[a-zA-Z]*[rR]|--(?:dereference-)?rec", a) for a in run.args)


def _but(run: Run) -> None:
    found = _BUT.get(run.name)
    if found:
        pattern, what, why = found
        for word in run.args:
            if pattern.match(word):
                run.ask(what, why)
                return


def _facts(run: Run) -> None:
    _but(run)
    run.note(Class.READ)


def _written_output(run: Run) -> None:
    """Programs whose output may go to a file by an option or a second operand."""
    options = run.options(
        {"-o", "--output", "-k", "-t", "-S", "-T", "-c", "-l", "-s", "-f", "-w", "-i", "-F", "-n", "-g"}
    )
    for target in options.values("-o", "--output"):
        run.write(target)
    if run.name == "sort" and options.has("--compress-program"):
        run.ask(Class.CODE, "runs another program to compress")
    rest = options.rest
    if run.name in ("uniq", "xxd") and len(rest) > 1:
        run.write(rest[-1])
        rest = rest[:-1]
    run.unknown(w for w in run.args if w[:1] in ("\0", "\1") and run.name != "shuf")
    for word in rest:
        if word != "-":
            run.read(word)
    run.note(Class.READ)
    if run.name in ("sort", "uniq") and not rest and run.stdin and LISTED in run.stdin:
        run.output = run.stdin


def _in_place(run: Run) -> None:
    if any(re.match(r"-[a-zA-Z]*i|--(?:in-?place|yaml-in)", a) for a in run.args):
        for word in [a for a in run.args if a[:1] != "-"][1:]:
            run.write(word)
    _files(run)


def _jq(run: Run) -> None:
    """jq: the values of its variables are no files."""
    words, rest = list(run.args), []
    while words:
        word = words.pop(0)
        if word in ("--arg", "--argjson"):
            del words[:2]
        else:
            rest.append(word)
    run.args = rest
    _files(run)


def _ps(run: Run) -> None:
    run.note(Class.READ)
    if any(re.fullmatch(r"[a-zA-Z]*e[a-zA-Z]*", a) for a in run.args):
        run.ask(Class.CREDENTIALS, "shows the environment of other processes")


def _hostname(run: Run) -> None:
    run.note(Class.READ)
    if any(a[:1] != "-" for a in run.args) or "-F" in run.args or "-b" in run.args:
        run.ask(Class.KERNEL, "renames the machine")


def _names(run: Run) -> None:
    """Asks a name server: what is asked goes out, so it must be known."""
    run.note(Class.FETCH)
    if any(c in a for a in run.args for c in UNKNOWN):
        run.ask(Class.SEND, "sends something that is only known when it runs to a name server or host")
    _but(run)


def _looked_up(run: Run) -> None:
    """getent: hosts are asked of a name server, the rest is on this machine."""
    if any(a.startswith(("host", "ahost", "net")) for a in run.args):
        _names(run)
    else:
        run.note(Class.READ)


def _loads(run: Run) -> None:
    """Shows what a program loads, by loading it."""
    for word in run.args:
        run.read(word)
    run.note(Class.PROJECT)


def _file_magic(run: Run) -> None:
    if any(a in ("-C", "--compile") for a in run.args):
        run.ask(Class.WRITE, "compiles a file")
    _files(run)


def _tree(run: Run) -> None:
    options = run.options({"-o", "-L", "-P", "-I", "-H", "-T"})
    for target in options.values("-o"):
        run.write(target)
    run.note(Class.READ)


PROGRAMS: dict[str, Program] = dict.fromkeys(_FILES, _files)
PROGRAMS |= dict.fromkeys(_FACTS, _facts)
PROGRAMS |= dict.fromkeys(("sort", "uniq", "shuf", "column", "cmp"), _written_output)
PROGRAMS |= dict.fromkeys(("yq", "xq", "tomlq"), _in_place)
PROGRAMS |= dict.fromkeys(
    ("ping", "ping6", "traceroute", "tracepath", "mtr", "dig", "nslookup", "host", "drill", "whois", "tldr"), _names
)
PROGRAMS |= dict.fromkeys(("ldd", "lddtree"), _loads)
PROGRAMS |= {
    "ps": _ps,
    "jq": _jq,
    "getent": _looked_up,
    "hostname": _hostname,
    "domainname": _hostname,
    "file": _file_magic,
    "tree": _tree,
}
