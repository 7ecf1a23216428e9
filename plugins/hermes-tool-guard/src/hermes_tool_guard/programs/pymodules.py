"""What modules of Python are for: which are harmless, and what of the others is."""

import sys

from hermes_tool_guard.run import names

__all__ = ["CALM", "FETCHING", "HARMLESS_OF", "LIBRARIES", "REACHED", "is_closed", "is_library"]

# Of these only what is named here is harmless.
HARMLESS_OF = {
    "os": names(
        "path sep linesep name environ getenv getcwd getcwdb getpid getppid uname cpu_count process_cpu_count listdir "
        "scandir walk fwalk stat lstat access get_terminal_size getlogin getuid geteuid getgid getegid F_OK R_OK W_OK "
        "X_OK curdir pardir extsep pathsep altsep devnull fspath fsencode fsdecode urandom times getloadavg "
        "sched_getaffinity readlink remove unlink rmdir removedirs rename renames replace makedirs mkdir chmod "
        "truncate "
        "chdir utime PathLike DirEntry error stat_result sysconf get_exec_path strerror supports_follow_symlinks "
        "environb getpgid isatty terminal_size umask get_inheritable statvfs system popen kill link symlink "
        "sync fsync"
    ),
    "shutil": names(
        "rmtree copy copy2 copyfile copytree move which disk_usage get_terminal_size ignore_patterns make_archive "
        "copyfileobj copymode copystat Error SameFileError get_archive_formats get_unpack_formats unpack_archive"
    ),
    "subprocess": names(
        "run call check_call check_output Popen getoutput getstatusoutput PIPE DEVNULL STDOUT CalledProcessError "
        "TimeoutExpired SubprocessError CompletedProcess list2cmdline"
    ),
    "sys": names(
        "argv path version version_info stdin stdout stderr exit platform executable prefix base_prefix exec_prefix "
        "maxsize byteorder getsizeof getrecursionlimit setrecursionlimit getdefaultencoding getfilesystemencoding "
        "implementation flags float_info int_info hash_info intern exc_info getrefcount builtin_module_names "
        "stdlib_module_names api_version hexversion dont_write_bytecode warnoptions copyright maxunicode thread_info "
        "set_int_max_str_digits get_int_max_str_digits pycache_prefix getswitchinterval is_finalizing orig_argv "
        "ps1 ps2"
    ),
    "socket": names("gethostname AF_INET SOCK_STREAM has_ipv6 error timeout AF_INET6"),
    "ssl": names("OPENSSL_VERSION OPENSSL_VERSION_INFO get_default_verify_paths HAS_TLSv1_3"),
    "importlib": names("metadata resources util import_module reload machinery"),
    "pickle": names("dump dumps HIGHEST_PROTOCOL DEFAULT_PROTOCOL PicklingError"),
    "types": names("SimpleNamespace ModuleType NoneType GeneratorType MappingProxyType UnionType GenericAlias"),
    "gc": names("collect get_count get_stats disable enable"),
    "signal": names("signal SIGINT SIGTERM SIGALRM SIG_DFL SIG_IGN alarm Signals SIGPIPE"),
    "ctypes": names("sizeof util"),
    "asyncio": names(
        "run sleep gather wait_for TimeoutError Queue Lock Event Semaphore create_task get_event_loop new_event_loop "
        "set_event_loop iscoroutinefunction iscoroutine to_thread CancelledError timeout Task Future TaskGroup wait "
        "as_completed run_coroutine_threadsafe get_running_loop"
    ),
    "http": names("HTTPStatus"),
    "webbrowser": frozenset[str](),
    "resource": names("getrusage RUSAGE_SELF RUSAGE_CHILDREN getrlimit"),
    "pwd": names("getpwuid getpwnam getpwall"),
    "psutil": names(
        "cpu_percent cpu_count virtual_memory disk_usage net_io_counters boot_time process_iter __version__ "
        "swap_memory cpu_freq getloadavg"
    ),
    "yaml": names(
        "safe_load safe_load_all safe_dump dump dump_all load load_all SafeLoader FullLoader CSafeLoader BaseLoader "
        "YAMLError SafeDumper Dumper __version__ add_representer CLoader CDumper"
    ),
}
_CLOSED = names(  # of the standard library: the network, other programs, code
    "pty code codeop runpy builtins marshal shelve ftplib telnetlib smtplib poplib imaplib nntplib xmlrpc socketserver "
    "fcntl mmap posix nt winreg msvcrt bdb imp cgi pdb crypt spwd termios tty curses readline rlcompleter zipapp venv "
    "ensurepip idlelib turtle tkinter wsgiref asyncore asynchat smtpd selectors select antigravity fileinput dbm pydoc "
    "distutils zipimport mailbox profile cProfile trace lib2to3 turtledemo pkgutil"
)
_OUTWARD = names(  # of others: what they are may be asked, no more
    "cffi paramiko fabric pexpect sh plumbum boto3 botocore docker kubernetes telethon pyrogram slack_sdk discord "
    "twilio sendgrid scapy pynput pyautogui keyring keyboard mouse pyperclip dill cloudpickle joblib jsonpickle invoke "
    "delegator pwn impacket ptyprocess winrm google azure stripe openstack netmiko pysftp dns nmap mechanize selenium "
    "playwright websocket websockets grpc zmq pika kafka celery redis pymongo ldap3 dotenv openai anthropic langchain "
    "sentry_sdk git gunicorn uvicorn pip cohere mistralai groq together replicate litellm"
)
HARMLESS_OF |= dict.fromkeys(_OUTWARD, names("__version__ VERSION version __file__ __name__ __doc__ __path__"))
CALM = {n for n in sys.stdlib_module_names if n[0] != "_"} - _CLOSED - HARMLESS_OF.keys() | {"__future__"}
FETCHING = {
    "requests": names("get head"),
    "httpx": names("get head"),
    "urllib.request": names("urlopen urlretrieve"),
    "urllib": frozenset[str](),
    "urllib3": frozenset[str](),
    "aiohttp": frozenset[str](),
}
REACHED = names(  # modules that others hold, as pathlib holds os
    "os sys subprocess shutil builtins socket importlib ctypes posix pty _os _sys nt runpy _bootstrap "
    "_bootstrap_external"
)
# What people have installed, and import from any folder.
LIBRARIES = names(
    "numpy pandas scipy sklearn matplotlib seaborn plotly torch torchvision torchaudio tensorflow keras jax flax "
    "transformers datasets tokenizers accelerate xgboost lightgbm statsmodels sympy networkx nltk spacy gensim cv2 PIL "
    "skimage imageio polars pyarrow dask numba cupy h5py tables xarray geopandas shapely django flask fastapi "
    "starlette "
    "pydantic pydantic_core attr attrs cattrs sqlalchemy alembic click typer rich textual tqdm tabulate colorama toml "
    "tomli tomllib tomlkit orjson ujson simplejson msgpack lxml bs4 html5lib markdown jinja2 mako pygments docutils "
    "sphinx pytest hypothesis mypy ruff black isort flake8 pylint packaging setuptools pkg_resources wheel dateutil "
    "pytz arrow pendulum babel chardet charset_normalizer certifi idna cryptography jwt nacl bcrypt passlib openpyxl "
    "xlsxwriter docx pptx pypdf PyPDF2 fitz reportlab tiktoken faker factory freezegun "
    "regex unidecode ftfy nbformat IPython ipykernel jupyter notebook structlog loguru typing_extensions six "
    "more_itertools toolz cytoolz sortedcontainers cachetools diskcache anyio trio uvloop jsonschema "
    "ruamel configparser environs graphviz pydot astropy onnx onnxruntime einops triton sentencepiece peft"
)


def is_closed(module: str) -> bool:
    """Whether a module is for what needs a yes: the network, other programs, other machines."""
    return module in _CLOSED or module in sys.stdlib_module_names


def is_library(module: str) -> bool:
    """Whether a module is one that people have installed."""
    return module.partition(".")[0] in LIBRARIES
