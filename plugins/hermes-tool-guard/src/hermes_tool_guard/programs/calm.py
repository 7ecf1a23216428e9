"""Code of other languages on the command line: what holds no word of danger computes, prints and reads."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.places import Zone, credential_name
from hermes_tool_guard.programs.foreign import with_home
from hermes_tool_guard.run import Run, names

__all__ = ["calm", "loadable", "perl_modules"]

LONGEST = 8_000  # characters of code that is read


class Language(NamedTuple):
    """What a language has for more than computing."""

    dangerous: re.Pattern[str]  # anywhere in the code: programs, the network, code from text, deleting
    loads: re.Pattern[str] | None = None  # how it loads modules, which are the first group that is not empty
    closed: re.Pattern[str] | None = None  # modules that need a yes
    writes: re.Pattern[str] | None = None  # what writes files, named by the texts of the code


_NODE = Language(
    re.compile(
        r"\beval\b|\bFunction\b|constructor|__proto__|\bglobal(?:This)?\b|\bthis\b|\bchild_process\b|\bexec\w*\s*\((?!/)"
        r"|\bexec(?:File)?Sync|\bspawn|\bfork\b|\bfetch\b|XMLHttpRequest|WebSocket|\bBun\b|\bReflect\b|\bProxy\b"
        r"|\bbinding\b|\bmodule\b|\bunlink|\brm(?:Sync|dir)?\b|\brmdirSync|\bcopyFile|\bcp(?:Sync)?\s*\(|\brename"
        r"|\bchmod|\bchown|\bsymlink|\blink(?:Sync)?\s*\(|\btruncate|\bopen(?:Sync)?\s*\(|createWriteStream|\bkill\b"
        r"|fromCharCode|\\[ux]|\]\s*\(|\bprocess\b(?!\.(?:versions?|argv|platform|cwd|stdout|stderr|memoryUsage|uptime"
        r"|arch|hrtime|stdin|pid|release|env|execPath|cpuUsage|title|on|nextTick)\b)|\bimportScripts|\bWorker\b"
        r"|\brequire\b(?!\s*\(\s*['\"`][^'\"`$]+['\"`]\s*\)|\.resolve\()|\bimport\b\s*\((?!\s*['\"][^'\"]+['\"]\s*\))"
        r"|\bDeno\b(?!\.(?:version|cwd|args|readTextFile(?:Sync)?|readDir(?:Sync)?|stat(?:Sync)?|build|env)\b)"
        r"|\bdlopen|\bsetuid|\bwith\s*\("
    ),
    re.compile(r"(?:\brequire\s*\(\s*|\bimport\s*\(\s*|\bfrom\s+|\bimport\s+)['\"`]([^'\"`]+)['\"`]"),
    re.compile(
        r"(?:node:)?(?:child_process|net|https?2?|dgram|tls|dns|cluster|worker_threads|vm|inspector|repl|wasi|sea|module"
        r"|axios|node-fetch|got|request|undici|superagent|shelljs|execa|ssh2|nodemailer|puppeteer|playwright|ws|zx"
        r"|cross-spawn|rimraf|del|needle|socket\.io.*|node-pty|ffi.*|sudo-prompt|open|express|fastify|koa|ftp.*|aws-sdk"
        r"|@aws-sdk/.*|redis|ioredis|keytar|fs-extra|node-ipc)(?:/.*)?|(?:https?|data|npm|jsr):.*"
    ),
    re.compile(r"\b(?:write|append)File|\bmkdir|\bwriteTextFile"),
)
_RUBY = Language(
    re.compile(
        r"`|%x|\b(?:system|exec|spawn|fork|popen\w*|Open3|PTY|eval|instance_eval|class_eval|module_eval|instance_exec"
        r"|send|__send__|public_send|const_get|syscall|FileUtils|TCP\w+|UDP\w+|UNIX\w+|Socket|Net|URI\.open|binding"
        r"|ObjectSpace|Marshal|Process|Fiddle|load|autoload|trap|Kernel|define_method|delete|unlink|rename|chmod|chown"
        r"|symlink|link|truncate|rmdir|rmtree|rm|rm_rf|rm_r|chdir|copy_stream|RubyVM|TOPLEVEL_BINDING|DRb|Gem)\b"
        r"|\bmethod\b\s*\(?:|\bopen\s*[( ]\s*['\"](?:\||https?:)|\bIO\b(?!\.(?:read|readlines|foreach)\b)"
        r"|\bENV\b[^;\n]*[^=!<>]=[^=~>]|\bopen\s*\([^)]*['\"][wa]"
    ),
    re.compile(r"\brequire(?:_relative)?\s*\(?\s*['\"]([^'\"]+)['\"]"),
    re.compile(r"(?:socket|net|open-uri|open3|pty|fiddle|drb|rinda|webrick|ftp|faraday|httparty|shell|readline).*"),
    re.compile(r"\b(?:File|IO)\.(?:binwrite|write)|\bmkdir|\bFile\.(?:open|new)\b[^)]*['\"][wa]"),
)
_PHP = Language(
    re.compile(
        r"`|(?i:\b(?:system|exec|shell_exec|passthru|proc_\w+|popen|pcntl_\w+|eval|assert|create_function|unlink|rmdir"
        r"|rename|fopen|fwrite|fputs|mail|fsockopen|pfsockopen|curl_\w+|stream_\w+|socket_\w+|copy|chmod|chown|touch"
        r"|symlink|link|putenv|dl|ini_set|call_user_func\w*|func_overload|register_\w+|posix_\w+|ftp_\w+|ssh2_\w+|extract"
        r"|unserialize|Reflection\w*|FFI|SplFileObject|PDO|mysqli\w*|tempnam|move_uploaded_file|chdir|apache_\w+)\b)"
        r"|\$\w+\s*\(|\$\$|\$\{|\bnew\s+\$|::\s*\$|\[['\"]\w+['\"]\]\s*\(|\)\s*\(|(?i:https?|ftp|php|data|phar|expect)://"
        r"|['\"]\s*\(|\"\\x"
    ),
    re.compile(r"(?i:\b(?:include|require)(?:_once)?\b)\s*\(?\s*['\"]([^'\"]+)['\"]"),
    re.compile(r"(?:/|\.\./|~|[a-z]+:).*"),
    re.compile(r"(?i)\bfile_put_contents|\bmkdir"),
)
_LUA = Language(
    re.compile(
        r"\bos\s*\.\s*(?:execute|remove|rename|tmpname|setlocale|exit\b(?!)|getenv\b(?!))|\bos\s*\[|\bio\s*\.\s*(?:popen|output"
        r"|tmpfile)|\bio\s*\[|\bload\w*\b|\bdofile\b|\bdebug\b|\bpackage\b|_G\b|_ENV\b|\bffi\b|\brawget\b|string\.dump"
        r"|\bio\.open\s*\([^)]*,\s*['\"][wa]|\brequire\b(?!\s*\(?\s*['\"])|=\s*(?:os|io)\s*(?:[;\n]|$)|\bsocket\b|\blfs\b"
    ),
    re.compile(r"\brequire\s*\(?\s*['\"]([^'\"]+)['\"]"),
    re.compile(r"(?:os|io|debug|package)|(?:socket|ssl|lfs|posix|luasocket|http|ltn12|copas|ffi).*"),
)
_R = Language(
    re.compile(
        r"\b(?:system2?|shell(?:\.exec)?|unlink|file\.(?:remove|copy|rename|create|symlink|append|edit)|source|eval|evalq"
        r"|parse|download\.file|url|socketConnection|make\.socket|install\.packages|install_\w+|setwd|Sys\.setenv|do\.call"
        r"|get|mget|match\.fun|dyn\.load|pipe|fifo|curl\w*|httr\w*|GET|POST|RCurl|processx|sys|reticulate|rJava|Rcpp"
        r"|remotes|devtools::install\w*|pak|renv|assign|browseURL|quit_|Reduce_|unz_|socketSelect|sockets)\s*\(|\.Internal"
        r"|\.Primitive|\.C\b|\.Call\b|\.External|`|\bprocessx\b|\breticulate\b|\bhttr2?\b|\\x|\\u"
    ),
    None,
    None,
    re.compile(
        r"\b(?:write\w*(?:[._]\w+)*|save\w*|ggsave|png|pdf|jpeg|svg|tiff|sink|dump|dput|file|dir\.create)\s*\(|file\s*="
    ),
)
_JULIA = Language(
    re.compile(
        r"`|\b(?:run|rm|mv|cp|download|eval|include_string|ccall|unsafe_\w+|pipeline|spawn|Sockets|HTTP|Downloads|Meta"
        r"|invokelatest|getfield|touch|symlink|chmod|chown|cd|kill|Libdl|PyCall|Distributed|addprocs|Base\.\w*run\w*)\b"
        r"|@eval|\bPkg\.(?!test\b|status\b|instantiate\b|precompile\b|resolve\b|activate\b|build\b)\w+"
        r"|\bopen\s*\([^)]*['\"][wa]|\bwrite\s*\("
    ),
    re.compile(r"\binclude\s*\(\s*\"([^\"]+)\""),
    re.compile(r"(?:/|~|\.\./).*"),
    re.compile(r"\bmkpath|\bmkdir"),
)
_ELIXIR = Language(
    re.compile(
        r"System\.(?:cmd|shell|halt|stop|put_env|find_executable)|:os\b|:erlang|:file\b|:httpc|:gen_tcp|:ssh|:rpc|:net"
        r"|File\.(?:rm|write|cp|rename|ln|chmod|touch|open|stream|mkdir|cd)|\bCode\.|\bNode\.|\bapply\b|\bPort\.|spawn"
        r"|Module\.|\bimport\b|Req\.|HTTPoison|Finch|Mint|Tesla|Function\.|binary_to_term|Mix\."
    ),
)
_PERL = Language(
    re.compile(
        r"`|(?<![$@%&\w>-])\b(?:system|exec|fork|unlink|rmdir|mkdir|rename|chmod|chown|kill|socket\w*|connect|bind|listen"
        r"|accept|send|recv|eval|do(?=\s*[\"'$(])|syscall|symlink|link|utime|truncate|sysopen|syswrite|readpipe|qx|dump|dbmopen"
        r"|chroot|chdir|ioctl|fcntl|pipe|shm\w+|msg\w+|require|setp\w+|rmtree|remove_tree|tie|dbmclose|wait|waitpid"
        r"|alarm|open|opendir|sub_)\b|\bCORE::|&\s*[{$\"'(]|&\w+\s*\(|->\s*\(|->\s*[$\"'{]\w*|\bIO::|\bFile::(?!Basename|Spec)|\bIPC"
        r"|\bLWP|\bHTTP::|\bNet::|\bSocket|\bPOSIX::(?!str|floor|ceil|fmod|is)|\bDynaLoader|\*\{|\*\w+\s*=|\\x|\(\?\??\{"
        r"|/[gimsx]*ee[gimsx]*\b|\bprint\s*\{|<\s*\$?\w*\|"
    ),
    re.compile(r"\buse\s+([\w:]+)"),
    None,
    None,
)
_PERL_CALM = re.compile(
    r"(?:strict|warnings|utf8|open|feature|POSIX|integer|bigint|bignum|constant|locale|lib|autodie|v?5[\d.]*|vars|diagnostics"
    r"|List::\w+|Scalar::Util|Data::Dumper|JSON(?:::\w+)?|Time::(?:Local|HiRes|Piece)|Math::\w+|Text::\w+(?:::\w+)?"
    r"|Encode|Digest::\w+|MIME::Base64|Getopt::\w+|File::Basename|File::Spec(?:::\w+)?|Cwd|Term::ANSIColor|English|Benchmark"
    r"|Unicode::\w+|URI::Escape|Tie::\w+|Storable_|YAML(?:::\w+)?|Config|charnames|sort|version)"
)
_LANGUAGES: Mapping[str, Language] = {
    **dict.fromkeys(("node", "nodejs", "bun", "deno", "tsx", "ts-node"), _NODE),
    "ruby": _RUBY,
    "php": _PHP,
    **dict.fromkeys(("lua", "luajit"), _LUA),
    **dict.fromkeys(("Rscript", "R"), _R),
    "julia": _JULIA,
    "elixir": _ELIXIR,
    "perl": _PERL,
}
# In other languages: one call that prints plain values.
_PRINTS = re.compile(
    r"\s*(?:print(?:ln|f)?|puts|echo|console\.log|say|display|write|io:fwrite|message|putStrLn|System\.out\.println|disp)"
    r"\s*[( ]\s*[\w\s.,:+*/%'\"=!?-]*\)?\s*;?\s*"
)
_TEXTS = re.compile(r"\"((?:\\.|[^\"\\\n])*)\"|'((?:\\.|[^'\\\n])*)'|`([^`\n]*)`")
_PERL_RUNS = re.compile(r"\bs([/|#!,~])(?:\\.|(?!\1).)*\1((?:\\.|(?!\1).)*)\1[a-z]*e")
_PERL_SUMS = names("int sprintf uc lc ucfirst lcfirst length sqrt abs join reverse substr ord chr hex oct x")
_FILLED = re.compile(r"[#$]\{[^}]*\}")
_OPENS = re.compile(r"[\w~.][\w./~-]*|/[\w./~-]+")


def perl_modules(run: Run, modules: list[str]) -> None:
    """Modules that perl is told to load."""
    for module in modules:
        if not _PERL_CALM.fullmatch(module.partition("=")[0].lstrip("-")):
            run.ask(Class.CODE, f"loads perl's module {module[:40]}")


def calm(run: Run, language: str, code: str) -> bool:
    """Judge what code names; whether it plainly does no more than compute, print, read, and write in the folder."""
    if len(code) > LONGEST or any(c in code for c in UNKNOWN):
        return False
    known = _LANGUAGES.get(language)
    if known is None:
        return bool(_PRINTS.fullmatch(code))
    code = with_home(run, code)
    texts = [next((t for t in found if t), "") for found in _TEXTS.findall(code)]
    if known.dangerous.search(code) or known.dangerous.search("".join(texts)):
        return False
    if language == "perl" and any(
        set(re.findall(r"(?<![$@%\w])[a-zA-Z_]\w*", re.sub(r"\"[^\"$@]*\"", "", m[2]))) - _PERL_SUMS
        for m in _PERL_RUNS.finditer(code)
    ):
        return False
    if known.loads and not all(_loaded(run, known, language, name) for name in known.loads.findall(code)):
        return False
    return _named(run, known, code, texts)


def loadable(language: str, name: str) -> bool:
    """Whether a module may be loaded by its name."""
    known = _LANGUAGES.get(language)
    return name != "un" and not (known and known.closed and known.closed.fullmatch(name))


def _loaded(run: Run, known: Language, language: str, name: str) -> bool:
    if language == "perl":
        return bool(_PERL_CALM.fullmatch(name))
    if known.closed and known.closed.fullmatch(name):
        return False
    if name.startswith((".", "/", "~")):
        run.script(name)
    run.note(Class.PROJECT)
    return True


def _named(run: Run, known: Language, code: str, texts: list[str]) -> bool:
    """Judge the places that the texts of code name."""
    writes = bool(known.writes and known.writes.search(code))
    filled = [_FILLED.sub("x", t) for t in texts if "{" in t]
    if any("/" in t and credential_name(t) for t in filled):
        return False
    paths = [t for t in texts if _OPENS.fullmatch(t) and (t[0] in "~/." or "." in t or "/" in t)]
    for path in paths:
        if writes:
            run.write(path)
        elif any(zone in (Zone.GUARDED, Zone.CREDENTIAL, Zone.DEVICE) for _, zone in run._zones(path)):
            run.read(path)
    return bool(paths) or not writes
