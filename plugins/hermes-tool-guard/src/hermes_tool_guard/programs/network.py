"""Programs that use the network: fetching is looking, sending is not."""

import re

from hermes_tool_guard.judgement import DERIVED, UNKNOWN, Class
from hermes_tool_guard.programs.addresses import LOCAL, fetches
from hermes_tool_guard.programs.options import is_plain_for_any
from hermes_tool_guard.run import Options, Program, Run, each, names

__all__ = ["PROGRAMS"]

_CURL_VALUED = names(
    "-o -d -F -T -H -A -e -X -u -U -x -b -c -K -E -m -w -r -y -Y -z -C -D -t -Q -P --output --data "
    "--data-raw --data-binary --data-urlencode --data-ascii --json --form --form-string "
    "--upload-file --header --user-agent --referer --request --user --proxy --cookie --cookie-jar "
    "--config --cert --key --cacert --capath --max-time --connect-timeout --write-out --range "
    "--retry --retry-delay --resolve --connect-to --interface --limit-rate --dump-header --url "
    "--output-dir --proxy-user --oauth2-bearer --netrc-file --unix-socket --abstract-unix-socket "
    "--max-redirs --ciphers --stderr --trace --trace-ascii --proto --proto-redir --tls-max --engine "
    "--libcurl --etag-save --etag-compare --hsts --dns-servers --doh-url --quote --mail-from "
    "--mail-rcpt --keepalive-time --retry-max-time --variable --expand-url --expand-data"
)
_UPLOADS = names(
    "-d --data --data-raw --data-binary --data-urlencode --data-ascii -F --form --form-string -T --upload-file "
    "--json --expand-data --mail-from --mail-rcpt -Q --quote"
)


def _uploads(run: Run, uploads: list[tuple[str, str]]) -> None:
    for option, value in uploads:
        if (value.startswith("@") and len(value) > 1) or option in ("-T", "--upload-file"):
            run.read(value.lstrip("@") if value not in ("-", "@-") else ".")
        if re.search(r"=[@<]", value):
            run.read(re.split(r"=[@<]", value)[1].partition(";")[0])
        if (
            re.search(f"[{UNKNOWN}]", value)
            or value in ("@-", "-")
            or value.startswith("@")
            or option in ("-T", "--upload-file", "-F", "--form")
        ):
            run.ask(Class.SEND, "uploads files or text to the network")


_TELLS = names("-H --header -A --user-agent -e --referer -b --cookie -u --user --oauth2-bearer")
_PASSES = names("-u --user -n --netrc --netrc-file --oauth2-bearer -E --cert --key -G --get")


def _identified(run: Run, options: Options) -> None:
    for value in options.values(*_TELLS):
        if any(c in value for c in UNKNOWN) or value.startswith("@"):
            run.ask(Class.SEND, "sends something to the network that is only known when it runs")
    if options.has(*_PASSES):
        run.ask(Class.SEND, "sends a password or data to the network")


def _curl(run: Run) -> None:
    options = run.options(_CURL_VALUED)
    urls = [*options.rest, *options.values("--url", "--expand-url")]
    local = bool(urls)
    for url in urls:
        local = fetches(run, url) and local
    uploads = [(o, v) for o, v in options.given if o in _UPLOADS]
    method = options.value("-X", "--request").upper()
    _uploads(run, uploads)
    changes = (uploads and not options.has("-G", "--get")) or method not in ("", "GET", "HEAD", "OPTIONS")
    if changes and local:
        _changes_here(run, method, urls)
    if not local:
        if changes:
            run.ask(Class.SEND, "sends data to the network")
        _identified(run, options)
    if options.has(
        "-K",
        "--config",
        "--libcurl",
        "-x",
        "--proxy",
        "--preproxy",
        "--socks5",
        "--socks5-hostname",
        "--engine",
        "--unix-socket",
        "--abstract-unix-socket",
        "--doh-url",
        "--resolve",
        "--connect-to",
    ):
        run.ask(Class.SEND, "goes to the network by another way")
    _saves(
        run,
        [
            *options.values(
                "-o",
                "--output",
                "-D",
                "--dump-header",
                "-c",
                "--cookie-jar",
                "--stderr",
                "--trace",
                "--trace-ascii",
                "--etag-save",
                "--hsts",
            )
        ],
        options.value("--output-dir"),
    )
    if options.has("-O", "--remote-name", "-J", "--remote-header-name", "--remote-name-all"):
        names = [u.partition("?")[0].rpartition("/")[2] or "." for u in urls]
        _saves(run, names, options.value("--output-dir"))
    run.unknown(w for w in run.args if w[:1] in UNKNOWN and w not in urls)
    run.output = DERIVED


_SERVICES = re.compile(  # ports of what keeps data, or drives the machine, for others too
    r":(?:2375|2376|2379|3306|5432|5984|6379|6443|7474|8086|8123|8200|8500|9000|9042|9090|9092|9200|10250|11434|15672|27017)\b"
)


def _changes_here(run: Run, method: str, urls: list[str]) -> None:
    """It changes something in a service on this machine: the project's own, unless it says what else it is."""
    run.note(Class.PROJECT)
    if method == "DELETE" or any(map(_SERVICES.search, urls)):
        run.ask(Class.DATABASE, f"changes, or deletes from, a service on this machine with {run.name}")


def _saves(run: Run, names: list[str], folder: str = "") -> None:
    for name in names:
        if name not in ("-", "/dev/null"):
            run.write(f"{folder.rstrip('/')}/{name}" if folder else name)


def _wget(run: Run) -> None:
    valued = (
        "-O -o -a -P -U -e -i -t -T -w -Q -B -A -R -D -X -I -l --output-document --output-file "
        "--directory-prefix --user-agent --post-data --post-file --body-data --body-file --header "
        "--method --user --password --input-file --execute --use-askpass --tries --timeout --referer "
        "--load-cookies --save-cookies --http-user --http-password --proxy-user --level --reject "
        "--accept --domains --append-output --wait --waitretry --max-threads --limit-rate --quota --bind-address "
        "--dns-timeout --connect-timeout --read-timeout --restrict-file-names --ca-certificate --exclude-directories "
        "--include-directories --cut-dirs --default-page --base --reject-regex --accept-regex --local-encoding"
    )
    options = run.options(frozenset(valued.split()))
    urls = options.rest
    local = bool(urls)
    for url in urls:
        local = fetches(run, url) and local
    for file in options.values("--post-file", "--body-file"):
        run.read(file)
        run.ask(Class.SEND, "uploads a file to the network")
    if not local and options.has(
        "--post-data",
        "--body-data",
        "--method",
        "--user",
        "--password",
        "--http-user",
        "--http-password",
        "--load-cookies",
    ):
        run.ask(Class.SEND, "sends data to the network")
    for value in options.values("--header", "-U", "--user-agent", "--referer"):
        if any(c in value for c in UNKNOWN):
            run.ask(Class.SEND, "sends something to the network that is only known when it runs")
    if options.has("-e", "--execute", "--use-askpass", "--config", "-i", "--input-file"):
        run.ask(Class.CODE, "gives wget settings that may run anything")
    folder = options.value("-P", "--directory-prefix")
    outputs = options.values("-O", "--output-document")
    aside = names(
        "-o --output-file -a --append-output --save-cookies --hsts-file --warc-file --warc-tempdir --rejected-log"
    )
    _saves(run, [*outputs, *options.values(*aside)])
    if not outputs and not options.has("--spider"):
        _saves(run, [u.partition("?")[0].rpartition("/")[2] or "index.html" for u in urls], folder)
    run.unknown(w for w in run.args if w[:1] in UNKNOWN and w not in urls)


def _httpie(run: Run) -> None:
    words = [w for w in run.args if w[:1] != "-"]
    method = words[0].upper() if words and words[0].isupper() else ""
    rest = words[1:] if method else words
    local = all(fetches(run, u if not u.startswith(":") else f"localhost{u}") for u in rest[:1])
    if method not in ("", "GET", "HEAD", "OPTIONS") or len(rest) > 1:
        if local:
            _changes_here(run, method, rest[:1])
        else:
            run.ask(Class.SEND, "sends data to the network")
    if any(re.search(r"[:=]?@", w) for w in rest[1:]) or (run.stdin and not local):
        run.ask(Class.SEND, "uploads a file to the network")


def _ssh(run: Run) -> None:
    if run.args in (["-V"], ["-Q", "cipher"]):
        run.note(Class.READ)
        return
    options = run.options(names("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"))
    for setting in options.values("-o"):
        if re.match(r"(?i)\s*(?:proxycommand|localcommand|knownhostscommand|permitlocalcommand|match)\b", setting):
            run.code(re.sub(r"^\s*\w+[\s=]+", "", setting))
            run.ask(Class.CODE, "makes ssh run a command on this machine")
    at = run.args.index(options.rest[0]) if options.rest and options.rest[0] in run.args else -1
    command = run.args[at + 1 :] if at >= 0 else []
    if command:
        run.code(" ".join(command))
    run.ask(Class.SEND, "works on another machine over ssh")


def _copies(run: Run) -> None:
    """scp, rsync, sftp: to or from another machine, or from here to there."""
    valued = names(
        "-e -f -F -i -J -l -o -P -S -c -D -X -T -M -B --rsh --rsync-path --exclude --include --filter "
        "--exclude-from --include-from --files-from --bwlimit --chmod --chown --log-file --backup-dir "
        "--suffix --partial-dir --temp-dir --compare-dest --copy-dest --link-dest --port --out-format "
        "--max-size --min-size --timeout --password-file --info --debug"
    )
    options = run.options(valued)
    for code in (*options.values("-e", "--rsh", "-S"), *options.values("--rsync-path")):
        if code.split(" ")[0].rpartition("/")[2] != "ssh" or re.search(r"(?i)proxycommand", code):
            run.code(code)
            run.ask(Class.CODE, f"makes {run.name} run another program")
    far = [w for w in options.rest if re.match(r"(?![./])[^/\s]*[\w\]]:", w) or "://" in w]
    words = list(options.rest)
    target = words.pop() if len(words) > 1 else ""
    for word in words:
        if word not in far:
            run.read_all(word)
    if target and target not in far:
        if any(o.startswith(("--del", "--remove")) for o, _ in options.given):
            run.delete(
                target if not target.endswith("/") else target.rstrip("/") or "/", what="deletes what is only in"
            )
        run.write(target)
    if any(o == "--remove-source-files" for o, _ in options.given):
        for word in words:
            run.delete(word)
    for file in options.values("--log-file"):
        run.write(file)
    if far or (run.name in ("scp", "sftp", "ftp", "lftp", "tftp") and run.args):
        run.ask(Class.SEND, f"copies files to or from another machine with {run.name}")


def _netcat(run: Run) -> None:
    options = run.options(
        names("-e -c -p -s -w -i -g -G -o -O -q -x -X -T --exec --sh-exec -I -m --lua-exec -P -b --proxy")
    )
    if options.has("-z") and not options.has("-e", "-c", "-l"):
        hosts = [w for w in options.rest if not w.isdigit()]
        if hosts and all(LOCAL.match(h) for h in hosts):
            run.note(Class.READ)
            return
    for code in options.values("-e", "-c", "--exec", "--sh-exec"):
        run.code(code)
    run.ask(Class.SEND, f"opens a connection, or waits for one, with {run.name}")


def _socat(run: Run) -> None:
    for word in run.args:
        for code in re.findall(r"(?i)(?:exec|system|shell):['\"]?([^,'\"]+)", word):
            run.code(code)
    run.ask(Class.SEND, f"opens a connection, or waits for one, with {run.name}")


def _openssl(run: Run) -> None:
    first = run.args[0] if run.args else ""
    if first in ("s_client", "s_server", "s_time", "ocsp", "engine", "cmp"):
        run.ask(Class.SEND, f"opens a connection with openssl {first}")
    options = run.options(
        names("-in -out -key -keyout -inkey -pass -passin -passout -subj -days -newkey -config -engine -writerand"),
        single=True,
    )
    for word in options.values("-out", "-keyout", "-writerand"):
        run.write(word)
    shown = first in ("x509", "crl", "verify", "req") and not options.has("-key", "-inkey", "-signkey")
    for word in options.values("-in", "-key", "-inkey") if not shown else ():
        run.read(word)
    if options.has("-engine", "-provider", "-provider-path"):
        run.ask(Class.CODE, "loads a library into openssl")
    run.note(Class.READ)


def _sends(run: Run) -> None:
    run.ask(Class.SEND, f"sends something, or opens the machine, with {run.name}")


def _serves(run: Run) -> None:
    if any(a in ("--version", "-v", "-V", "-t", "--help", "-T") for a in run.args):
        run.note(Class.READ)
        return
    run.ask(Class.SERVE, f"starts a server with {run.name}")


def _project_server(run: Run) -> None:
    """A server of the project's own code, for this machine alone unless it is told otherwise."""
    listens = [a for a in run.args if _EVERYWHERE.search(a)]
    if listens:
        run.ask(Class.SERVE, f"starts a server for others with {run.name} ({listens[0][:40]})")
    for option in [a.partition("=")[0] for a in run.args if a[:1] == "-" and len(a) > 1]:
        if option not in _SERVES and option[:2] not in _SERVES_GLUED and not is_plain_for_any(option):
            run.ask(Class.CODE, f"gives {run.name} {option[:40]}, and the guard does not know what that does")
    run.unknown(run.args[:1])
    run.note(Class.PROJECT)


_SERVES = names(
    "-b --bind -w --workers -k --worker-class --threads -t --timeout --reload --no-reload --port --host -h -p "
    "--log-level --access-logfile --error-logfile --log-config --uds --factory --loop --http --ws --lifespan "
    "--env-file --preload -D --daemon --pid --config -c --check-config --print-config --chdir --app-dir --app -A "
    "--debug --no-debug --debugger --no-debugger --cert --key -u --with-threads --without-threads --extra-files "
    "--exclude-patterns --root-path --proxy-headers --limit-concurrency --backlog --max-requests "
    "--max-requests-jitter --graceful-timeout --keep-alive -n --name --access-log -e --env --no-access-log "
    "--use-colors --no-use-colors --interface --reload-dir --reload-include --reload-exclude --listen --directory "
    "-d --call --no-server-header --no-date-header --timeout-keep-alive --ssl-keyfile --ssl-certfile "
)
_SERVES_GLUED = names("-w -b -p -t -k -c")
_EVERYWHERE = re.compile(r"(?:^|[=@:])(?:0\.0\.0\.0|\[?::\]?(?!\w)|\*)(?::\d+)?$|(?:^|=):\d+$")


def _keys(run: Run) -> None:
    if any(
        a in names("-l -lf -L --list-keys --list-secret-keys -k -K --verify --version --fingerprint") for a in run.args
    ):
        run.note(Class.READ)
        return
    run.ask(Class.CREDENTIALS, f"makes, shows or uses keys with {run.name}")


PROGRAMS: dict[str, Program] = {
    "curl": _curl,
    "wget": _wget,
    **each(_httpie, "http https xh xhs curlie"),
    **each(_ssh, "ssh autossh sshpass mosh slogin dbclient plink pssh pdsh clush"),
    **each(
        _copies,
        "scp rsync sftp ftp lftp tftp rclone unison pscp rcp ncftpput croc magic-wormhole wormhole s3cmd mc lsyncd",
    ),
    **each(_netcat, "nc ncat netcat nc.openbsd nc.traditional pwncat rustcat cryptcat powercat telnet"),
    **each(
        _socat,
        "socat socket websocat chisel ligolo frpc frps ngrok cloudflared localtunnel lt bore gsocket "
        "gs-netcat stunnel sslh iodine dnscat dnscat2 sshuttle tor i2pd wg wg-quick openvpn tailscale "
        "zerotier-cli",
    ),
    "openssl": _openssl,
    **each(
        _sends,
        "mail mailx sendmail mutt msmtp swaks ssmtp s-nail wall write telegram-send slack-cli smbclient "
        "smbget rpcclient ldapsearch ldapmodify nmap masscan hydra sqlmap nikto gobuster ffuf john "
        "hashcat msfconsole msfvenom tcpdump tshark wireshark ettercap arpspoof aircrack-ng responder "
        "bettercap xfreerdp rdesktop vncviewer mosquitto_pub kafkacat kcat nats aria2c axel yt-dlp "
        "youtube-dl transmission-cli ipfs w3m lynx links elinks finger rwho rsh rlogin rexec onionshare "
        "ab wrk hey siege k6 vegeta locust grpcurl evil-winrm impacket-smbserver crackmapexec netexec",
    ),
    **each(
        _serves,
        "nginx httpd apache2 apachectl caddy lighttpd "
        "http-server serve live-server json-server puma unicorn thin webrick twistd "
        "sshd dropbear vsftpd proftpd smbd nfsd mongod mysqld postgres redis-server memcached "
        "rabbitmq-server etcd minio jupyter-lab jupyter-notebook code-server ttyd gotty "
        "wetty shellinaboxd x11vnc vncserver tightvncserver Xvfb xrdp dnsmasq busybox-httpd darkhttpd "
        "thttpd webfsd miniserve updog celery wsgiref pserve adb dockerd containerd",
    ),
    **each(_project_server, "flask fastapi uvicorn gunicorn hypercorn daphne waitress-serve"),
    **each(
        _keys,
        "ssh-keygen ssh-add ssh-agent ssh-copy-id gpg gpg2 gpg-agent pass gopass op bw lpass keyring "
        "secret-tool security keychain age sops vaultwarden kinit klist aws-vault certbot mkcert step "
        "keepassxc-cli gnome-keyring-daemon kwallet-query chntpw mimikatz lazagne linpeas pspy",
    ),
}
