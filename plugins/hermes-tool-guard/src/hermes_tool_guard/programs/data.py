"""Clients of databases: what a statement does decides."""

import re

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.run import Options, Program, Run, each, names

_READS = re.compile(
    r"(?is)\s*(?:select|show|explain(?!\s+analy[sz]e\s+(?!select))|describe|desc"
    r"|pragma\s+(?:table_info|table_list|index_list|database_list|user_version|integrity_check"
    r"|quick_check|schema_version|foreign_key_list)"
    r"|with\b(?!.*\b(?:insert|update|delete)\b)|values|\\(?:d\S*|l\+?|conninfo|dt\S*|du|dn|df|timing|x"
    r"|q|\?|z|encoding)|\.(?:tables|schema|indexes|indices|mode|headers?|databases|dbinfo|help|quit"
    r"|exit|width|nullvalue|separator|stats|show|timer|version|explain|fullschema|lint|eqp|sha3sum)"
    r"|use\s+\w+|table\s)(?:\b|$|\s|\().*"
)
_WORST = re.compile(
    r"(?is)\b(?:drop|truncate|shutdown|flushall|flushdb|dropdatabase|drop_database|deleteMany"
    r"|deleteOne|remove\(|alter|grant|revoke|create\s+(?:role|user))\b|\bdelete\s+from\b"
)
_ESCAPES = re.compile(
    r"(?is)\binto\s+(?:out|dump)file\b|load_file\s*\(|\bcopy\b.*\b(?:program|to|from)\b|lo_(?:import"
    r"|export)|pg_(?:read|ls|terminate|reload|write)|xp_cmdshell|\\(?:!|copy|i|o|g\b|gexec|w|e\b"
    r"|setenv)|\.(?:shell|system|import|output|once|read|load|save|backup|clone|log|excel|open|cd"
    r"|archive)|load_extension|writefile|readfile|fts3_tokenizer|attach\b|\bsystem\b|\bsource\b|\\\."
    r"|sys_exec|create\s+(?:function|extension)|dblink|pg_sleep|sleep\("
)


def _statement(run: Run, text: str) -> None:
    if _WORST.search(text):
        run.ask(Class.DATABASE, "deletes from, or changes, a database")
    elif _ESCAPES.search(text):
        run.ask(Class.DATABASE, "reaches files or programs through a database")
    elif any(c in text for c in UNKNOWN):
        run.ask(Class.DATABASE, "gives a database a statement that is only known when it runs")
    elif all(_READS.fullmatch(part) for part in re.split(r";\s*(?=\S)", text.strip().rstrip(";")) if part.strip()):
        run.note(Class.READ)
    else:
        run.ask(Class.DATABASE, "changes a database")


def _sql(run: Run) -> None:
    if any(a in ("--version", "-V", "--help", "-version", "-?") for a in run.args):
        run.note(Class.READ)
        return
    options = run.options(
        names(
            "-c --command -e --execute -U -h -p_ -P -d -D -u -f --file -o --output -v -F -S -Q -q_ -i -H "
            "--host --port --user --username --dbname --database -cmd -init -separator -L"
        ),
        single=run.name.startswith(("sqlite", "duckdb", "sqlcmd")),
    )
    statements = [*options.values("-c", "--command", "-e", "--execute", "-Q", "-cmd")]
    in_file = run.name.startswith(("sqlite", "duckdb", "litecli"))
    if in_file:
        statements += _of_a_file(run, options)
    if options.has("-l", "--list") and not statements and run.name == "psql":
        run.note(Class.READ)
        return
    for file in [*options.values("-f", "--file"), *([] if run.name != "sqlcmd" else options.values("-i"))]:
        run.script(file)
        run.ask(Class.DATABASE, "runs a file of statements in a database")
    for file in options.values("-o", "--output", "-L"):
        run.write(file)
    if run.stdin:
        statements.append(run.stdin)
    if not statements:
        run.ask(Class.DATABASE, f"opens {run.name}, which waits for input")
    if not in_file or any("://" in text for text in statements):
        run.note(Class.FETCH)
    for text in statements:
        _statement(run, text)


def _of_a_file(run: Run, options: Options) -> list[str]:
    """A database that is a file: what it reads, and its statements."""
    if options.has("-init"):
        run.script(options.value("-init"))
    for word in options.rest[:1]:
        if word != ":memory:":
            run.read(word)
    return options.rest[1:]


_REDIS_READS = names(
    "ping info get mget keys scan ttl pttl type exists strlen llen lrange lindex hget hgetall hkeys "
    "hlen hmget smembers scard sismember zrange zcard zscore dbsize time memory object lastsave role "
    "echo xlen xrange xinfo randomkey"
)


def _redis(run: Run) -> None:
    options = run.options(names("-h -p -n -a -u -s --user --pass -r -i -t -x_ --eval"))
    if options.has("--eval") or run.stdin:
        run.ask(Class.DATABASE, "runs code in a database")
    words = options.rest
    if (words and words[0].lower() in _REDIS_READS) or options.has(
        "--version", "--stat", "--bigkeys", "--latency", "--scan"
    ):
        run.note(Class.FETCH)
        return
    run.ask(Class.DATABASE, f"changes, or opens, a database with {run.name} {' '.join(words[:1])[:30]}")


def _mongo(run: Run) -> None:
    options = run.options(names("--eval --host --port -u -p -d --authenticationDatabase -f --file"))
    code = options.value("--eval")
    if (
        code
        and re.fullmatch(
            r"(?:printjson\()?(?:db(?:\.getSiblingDB\([\"']\w+[\"']\))?\.(?:\w+\.)?(?:find|findOne|count"
            r"|countDocuments|estimatedDocumentCount|stats|getCollectionNames|serverStatus|version|getIndexes"
            r"|distinct|hello|runCommand\(\{\s*ping)\b[^;]*|show (?:dbs|collections|databases))\)?;?",
            code,
        )
        and not _WORST.search(code)
    ):
        run.note(Class.FETCH)
        return
    run.ask(Class.DATABASE, f"changes, or opens, a database with {run.name}")


def _dumps(run: Run) -> None:
    if "--version" in run.args:
        run.note(Class.READ)
        return
    options = run.options(names("-f --file -r --result-file -o --out -U -h -p -u -d"))
    for file in options.values("-f", "--file", "-r", "--result-file", "-o", "--out"):
        run.write(file)
    run.ask(Class.DATABASE, f"copies, restores or manages a whole database with {run.name}")


def _ready(run: Run) -> None:
    run.note(Class.READ)


PROGRAMS: dict[str, Program] = {
    **each(
        _sql,
        "psql mysql mariadb sqlite3 sqlite duckdb sqlcmd clickhouse-client clickhouse pgcli mycli "
        "litecli cqlsh usql isql sqlplus snowsql influx trino presto hive beeline spark-sql "
        "cockroach surreal neo4j cypher-shell db2",
    ),
    **each(_redis, "redis-cli valkey-cli keydb-cli etcdctl zkCli.sh consul-cli"),
    **each(_mongo, "mongo mongosh"),
    **each(
        _dumps,
        "pg_dump pg_dumpall pg_restore mysqldump mariadb-dump mongodump mongorestore mongoexport "
        "mongoimport createdb dropdb createuser dropuser mysqladmin mysqlimport pg_ctl initdb vacuumdb "
        "reindexdb pg_basebackup redis-dump pgbench mysql_secure_installation elasticdump kafka-topics "
        "kafka-topics.sh rabbitmqctl rabbitmqadmin nodetool",
    ),
    **each(_ready, "pg_isready pg_config mysql_config"),
}
