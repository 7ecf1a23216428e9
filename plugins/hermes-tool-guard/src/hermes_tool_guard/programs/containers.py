"""Containers, clusters and clouds: looking is free, building is the project's, the rest is asked about."""

import re

from hermes_tool_guard.judgement import UNKNOWN, Class
from hermes_tool_guard.places import Zone
from hermes_tool_guard.programs.verbs import by_verb
from hermes_tool_guard.run import Program, Run, each, names

_DOCKER_GROUPS = names(
    "network volume image container system buildx builder manifest context node service stack plugin "
    "swarm secret config"
)
_READS = names("ls list ps inspect logs df info version history top stats port diff events show du images config")
_VALUED = names(
    "-H --host -c --context --config -l --log-level -f --file -p --project-name --profile --env-file "
    "--project-directory -n --tail --since --until --format --filter -t --tag --target --build-arg "
    "--platform --label --network --cache-from --cache-to -o --output --progress --progress "
    "--builder --secret --ssh -m --memory"
)


_DOCKER_VALUED = names("-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey")


def _docker(run: Run) -> None:
    words = list(run.args)
    while words and words[0][:1] == "-":
        word = words.pop(0)
        if word.startswith(("-H", "--host", "-c", "--context")):
            run.ask(Class.CONTAINERS, "drives containers on another machine")
        if word in _DOCKER_VALUED and words:
            words.pop(0)
    if len(words) > 1 and words[0] in _DOCKER_GROUPS and words[1][:1] != "-":
        words.pop(0)
    _docker_command(run, words[0] if words else "", words[1:])


def _docker_command(run: Run, first: str, rest: list[str]) -> None:
    if first == "compose":
        _compose(run, rest)
    elif run.unknown([first]):
        return
    elif first in ("build", "bake"):
        _build(run, rest)
    elif first in _READS or first in ("wait", ""):
        run.note(Class.READ)
    elif first == "search":
        run.note(Class.FETCH)
    elif first in ("run", "create", "exec"):
        _contained(run, first, rest)
    elif first in ("pull", "fetch", "tag"):
        run.note(Class.FETCH)
    elif first in ("push", "login", "logout", "save", "export", "load", "import", "commit", "trust"):
        run.ask(Class.SEND, f"runs docker {first}")
    else:
        run.ask(Class.CONTAINERS, f"changes containers with {run.name} {first[:40]}")


def _build(run: Run, words: list[str]) -> None:
    plain = Run(run.scene, [run.name, *words], run.folders, None)
    options = plain.options(_VALUED)
    for word in options.rest[:1]:
        if not run.inside(word):
            run.ask(Class.CONTAINERS, f"builds from {word[:60]}, outside of the folder")
    if options.has("--push", "--secret", "--ssh", "--allow", "--privileged"):
        run.ask(Class.CONTAINERS, "builds with secrets or more rights, or sends the result")
    for file in options.values("-f", "--file"):
        run.script(file)
    run.note(Class.PROJECT)
    run.note(Class.FETCH)  # what it builds upon


def _contained(run: Run, first: str, words: list[str]) -> None:
    risky = [
        w
        for w in words
        if re.match(
            r"--privileged|--cap-add|--device|--pid|--ipc|--userns|--security-opt|--volumes-from"
            r"|--net(?:work)?=host|--uts|--cgroupns",
            w,
        )
    ]
    mounts = [
        after for word, after in zip(words, [*words[1:], ""], strict=False) if word in ("-v", "--volume", "--mount")
    ]
    mounts += [w.partition("=")[2] for w in words if w.startswith(("--volume=", "--mount="))]
    mounts += [w[2:] for w in words if w.startswith("-v") and len(w) > 2 and w[2] != "e"]
    for mount in mounts:
        source = re.sub(r".*?(?:source|src)=([^,]*).*", r"\1", mount) if "=" in mount else mount.partition(":")[0]
        if source.startswith(("/", ".", "~", "\0", "\1")):
            for path, zone in run._zones(source, whole=True):
                if zone not in (Zone.INSIDE, Zone.WORKSPACE, Zone.TEMPORARY):
                    run.ask(Class.CONTAINERS, f"gives a container {path[:60]}, outside of the folder")
    if risky:
        run.ask(Class.CONTAINERS, f"gives a container rights over this machine ({risky[0][:40]})")
    _in_mounts(run, words, mounts)
    run.ask(Class.CONTAINERS, f"runs something in a container with {run.name} {first}")


def _in_mounts(run: Run, words: list[str], mounts: list[str]) -> None:
    """What runs inside is judged with the names that the mounted places have outside."""
    pairs = [m.split(":")[:2] for m in mounts if m.count(":") and "=" not in m]
    at = next((i for i, w in enumerate(words) if w.rpartition("/")[2] in _INSIDE), -1)
    if at < 0 or not pairs:
        return
    outside = []
    for word in words[at:]:
        for source, target in pairs:
            if target.startswith("/"):
                bare = target.rstrip("/")
                word = re.sub(rf"(?<![\w/.]){re.escape(bare)}(?=/|\b|$)", lambda _: source.rstrip("/") or "/", word)  # noqa: B023, PLW2901
        outside.append(re.sub(r"^//+", "/", word))
    run.inner(outside)


_INSIDE = names("sh bash ash dash rm chmod chown dd mkfs find shred mv chroot tee cp truncate wipefs")


def _compose(run: Run, words: list[str]) -> None:
    plain = Run(run.scene, [run.name, *words], run.folders, None)
    options = plain.options(_VALUED - {"-p"} | {"-p"})
    first = options.rest[0] if options.rest else ""
    if first in (
        "ps",
        "logs",
        "config",
        "images",
        "top",
        "ls",
        "version",
        "port",
        "events",
        "convert",
        "stats",
        "volumes",
        "",
    ):
        run.note(Class.READ)
    elif first in ("build", "pull"):
        run.note(Class.PROJECT)
        run.note(Class.FETCH)
    elif first == "down" and options.has("-v", "--volumes", "--rmi"):
        run.ask(Class.CONTAINERS, "deletes the data of containers with compose down")
    elif first in ("up", "start", "stop", "restart", "down", "watch", "pause", "unpause"):
        run.note(Class.PROJECT)
        if first in ("up", "watch"):
            run.note(Class.FETCH)
        for file in options.values("-f", "--file"):
            run.script(file)
    else:
        run.ask(Class.CONTAINERS, f"runs something in containers with compose {first[:40]}")


_KUBE_READS = names(
    "get describe logs top version cluster-info explain api-resources api-versions config diff wait "
    "events auth options kustomize"
)


def _kubectl(run: Run) -> None:
    options = run.options(
        names(
            "-n --namespace -l --selector -o --output --context --cluster -c --container --since --tail -f "
            "--user --cluster --as-group --as-uid --cache-dir --certificate-authority --client-certificate "
            "--client-key "
            "--request-timeout --tls-server-name -v --v --vmodule --profile --log-file --password --username "
            "--filename --field-selector --sort-by --kubeconfig --timeout -s --server --token --as -k"
        )
    )
    words = options.rest
    first = words[0] if words else ""
    if options.has("-s", "--server", "--token", "--as", "--insecure-skip-tls-verify"):
        run.ask(Class.CLOUD, "drives another cluster, or as somebody else")
    if (
        first in ("get", "describe")
        and len(words) > 1
        and re.match(r"(?:secrets?|sealedsecret)s?(?:[/.,]|$)|.*,secrets?", words[1])
        and options.has("-o", "--output")
    ):
        run.ask(Class.CREDENTIALS, "reads secrets of a cluster")
    elif (
        first == "config"
        and len(words) > 1
        and words[1] not in ("view", "get-contexts", "current-context", "get-clusters", "get-users")
    ):
        run.ask(Class.CLOUD, "changes which cluster is driven")
    elif first == "config" and "--raw" in run.args:
        run.ask(Class.CREDENTIALS, "shows the keys of a cluster")
    elif (
        (first == "rollout" and len(words) > 1 and words[1] in ("status", "history"))
        or first in _KUBE_READS
        or not first
        or "--dry-run=client" in run.args
        or "--dry-run=server" in run.args
    ):
        run.note(Class.READ if first in ("config", "version", "options", "kustomize", "") else Class.FETCH)
    else:
        run.ask(Class.CLOUD, f"changes a cluster with {run.name} {first[:40]}")
    run.unknown([first])


_helm = by_verb(
    Class.CLOUD,
    "changes a cluster",
    (
        ("READ", "template lint version env verify config get-contexts current-context - build fmt validate"),
        ("FETCH", "list ls status get history show search dependency dep diff inspect repo app.list app.get app.diff"),
        ("FETCH", "get.clusters cluster.list profile.list check stat logs tail proxy-status analyze"),
    ),
    "-n --namespace -f --values --set -o --output --kube-context --kubeconfig --version --repo",
)


def _helm_checked(run: Run) -> None:
    if any("post-renderer" in w for w in run.args):
        run.ask(Class.CODE, "makes helm run another program")
    _helm(run)


_CLOUD_READS = re.compile(
    r"(?:describe|list|get|show|ls|head|lookup|view|search|help|version|status|info|whoami|wait|tail"
    r"|explain|check|validate|account|regions?|zones?|current|query|scan|filter|estimate|preview|synth"
    r"|diff|plan|fmt|graph|output|providers|state-list|doctor|logs|ps|releases)(?:[-_]|$)"
)
_SECRET = re.compile(
    r"secret|token|password|credential|key(?:s|pair)?\b|kms|ssm|parameter|access-token|print-|decrypt"
    r"|sts|session|login|assume|auth\b|get-caller-identity_"
)


def _cloud(run: Run) -> None:
    words = [w for w in run.args if w[:1] != "-"]
    services = run.name in ("aws", "gcloud", "az")  # their first word is no verb
    text = " ".join(words[1:] if services else words)
    if not words or run.args in (["--version"], ["version"]):
        run.note(Class.READ)
        return
    if _SECRET.search(" ".join(words)) and " ".join(words) not in ("sts get-caller-identity", "auth list"):
        run.ask(Class.CREDENTIALS, f"may show or use credentials of a cloud with {run.name}")
    looks = any(_CLOUD_READS.match(w) for w in words[:4])
    changes = re.search(
        r"\b(?:delete|terminate|destroy|remove|rm|rb|create|put|update|modify|run|start|stop|reboot|deploy"
        r"|apply|attach|detach|set|add|invoke|send|publish|cp|mv|sync|upload|import|copy|scale|reset"
        r"|revoke|purge|disable|enable|exec|ssh|deprovision|drop|failover|release)\b",
        text,
    )
    if changes or not looks or any(c in text for c in UNKNOWN):
        run.ask(Class.CLOUD, f"changes something in a cloud with {run.name} {text[:50]}")
    run.note(Class.FETCH)


_terraform = by_verb(
    Class.CLOUD,
    "changes infrastructure",
    (
        ("READ", "show output version graph providers state.list state.show workspace.list workspace.show whoami -"),
        ("WRITE", "fmt hclfmt"),
        ("PROJECT", "validate workspace.select stack hcl inspect"),
        ("PROJECT+FETCH", "plan init get test preview"),
    ),
)


def _remote_runs(run: Run) -> None:
    if (
        "--version" in run.args
        or (
            run.name.startswith("ansible")
            and (
                "--check" in run.args
                or "--syntax-check" in run.args
                or "--list-hosts" in run.args
                or "--list-tasks" in run.args
            )
        )
        or {"--list", "--graph"} & set(run.args)
    ):
        run.note(Class.PROJECT)
        run.note(Class.FETCH)
        return
    for word in run.args:
        if " " in word:
            run.code(word)
    run.ask(Class.CLOUD, f"works on other machines with {run.name}")


PROGRAMS: dict[str, Program] = {
    **each(_docker, "docker podman nerdctl buildah finch"),
    **each(lambda run: _compose(run, run.args), "docker-compose podman-compose"),
    **each(_kubectl, "kubectl oc k k3s microk8s"),
    **each(
        _helm_checked,
        "helm helmfile skaffold kustomize argocd flux istioctl linkerd tilt kind minikube k3d k9s stern kubectx kubens",
    ),
    **each(
        _cloud,
        "aws gcloud az gsutil bq doctl linode-cli hcloud oci ibmcloud aliyun flyctl fly heroku "
        "railway render eksctl sam cdk serverless sls amplify eb "
        "copilot azd azcopy scw openstack nova s5cmd b2 exo civo vultr-cli cf now surge stripe twilio "
        "sentry-cli datadog-ci newrelic pagerduty",
    ),
    **each(_terraform, "terraform tofu terragrunt pulumi packer cdktf nomad waypoint boundary"),
    **each(
        _remote_runs,
        "ansible ansible-playbook ansible-pull ansible-console ansible-vault ansible-inventory salt "
        "salt-call salt-ssh puppet chef-client knife fab cap mina bolt mcollective lxc lxd incus "
        "lxc-attach ctr crictl runc crun singularity apptainer enroot flyway liquibase",
    ),
}
