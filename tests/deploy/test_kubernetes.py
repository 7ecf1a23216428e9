"""The manifests are valid for Kubernetes, agree with each other, with the image, and with Hermes."""

import json
import re
from pathlib import Path
from typing import Any

import click
import kubernetes_validate
import pytest
import yaml

from hermes_core.cli.plugin_commands import find_command
from hermes_core.cli.scope import Scope
from hermes_core.config.paths import Home
from hermes_core.config.settings import load_settings
from hermes_platform_gateway.config import GatewaySettings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
FILES = sorted(path for path in FOLDER.glob("*.yaml") if path.name != "kustomization.yaml")
DOCUMENTS: list[tuple[str, Any]] = [(path.name, doc) for path in FILES for doc in yaml.safe_load_all(path.read_text())]
IMAGE = (ROOT / "Dockerfile").read_text()


def of(kind: str) -> dict[str, Any]:
    return {doc["metadata"]["name"]: doc for _, doc in DOCUMENTS if doc["kind"] == kind}


def pods() -> list[Any]:
    return [pytest.param(doc["spec"]["template"], id=name) for name, doc in of("Deployment").items()]


@pytest.mark.parametrize("version", ["1.28", kubernetes_validate.latest_version()])
@pytest.mark.parametrize(
    "document", [pytest.param(doc, id=f"{doc['kind']} {doc['metadata']['name']}") for _, doc in DOCUMENTS]
)
def test_the_schema_of_kubernetes_takes_every_document(document: Any, version: str):
    kubernetes_validate.validate(document, version, strict=True)


def test_a_slip_would_be_found():
    wrong = json.loads(json.dumps(of("Deployment")["hermes-gateway"]))
    wrong["spec"]["template"]["spec"]["containers"][0]["readynessProbe"] = {}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


def test_what_is_applied_are_all_documents_but_the_secret():
    listed = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    assert sorted(listed["resources"]) == [path.name for path in FILES if path.name != "secret.example.yaml"]
    used = {container["image"] for pod in pods() for container in pod.values[0]["spec"]["containers"]}
    assert {image["name"] for image in listed["images"]} == used


@pytest.mark.parametrize("kind", ["Deployment", "Service", "PodDisruptionBudget"])
def test_every_selector_meets_pods(kind: str):
    labels = [pod.values[0]["metadata"]["labels"] for pod in pods()]
    for name, document in of(kind).items():
        selector = document["spec"]["selector"]
        wanted = selector.get("matchLabels", selector)
        assert sum(wanted.items() <= one.items() for one in labels) == 1, name


@pytest.mark.parametrize("pod", pods())
def test_what_a_pod_names_is_there(pod: Any):
    spec, [container] = pod["spec"], pod["spec"]["containers"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
    assert volumes["config"]["configMap"]["name"] in of("ConfigMap")
    assert volumes["home"]["persistentVolumeClaim"]["claimName"] in of("PersistentVolumeClaim")
    assert all(one["secretRef"]["name"] in of("Secret") for one in container["envFrom"])
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["port"] in ports
        assert container[probe]["httpGet"]["path"] in ("/healthz", "/readyz")
    assert str(ports["health"]) == container["args"][-1].rpartition(":")[2]


def test_the_services_ports_are_the_containers():
    names = {port["name"] for pod in pods() for port in pod.values[0]["spec"]["containers"][0]["ports"]}
    assert {port["targetPort"] for one in of("Service").values() for port in one["spec"]["ports"]} <= names


@pytest.mark.parametrize("pod", pods())
def test_tools_in_a_pod_get_no_root_and_no_key_to_the_cluster(pod: Any):
    spec, [container] = pod["spec"], pod["spec"]["containers"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == int(re.findall(r"^USER (\d+)", IMAGE, re.MULTILINE)[-1])
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    folders = {mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")}
    home = re.findall(r"HERMES_HOME=(\S+)", IMAGE)[-1]
    assert folders == {home, re.findall(r"^WORKDIR (\S+)", IMAGE, re.MULTILINE)[-1], "/tmp"}


@pytest.mark.parametrize("pod", pods())
def test_the_command_is_one_that_hermes_knows(pod: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    group, name, *rest = pod["spec"]["containers"][0]["args"]
    assert group == "gateway"
    found = find_command(Scope(), group)
    assert isinstance(found, click.Group)
    with found.make_context(group, [name, *rest]) as context:
        command = found.get_command(context, name)
        assert command
        command.make_context(name, rest, parent=context).close()


def test_hermes_takes_the_settings_and_there_is_time_to_drain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "config.yaml").write_text(of("ConfigMap")["hermes-config"]["data"]["config.yaml"])
    for name, value in of("Secret")["hermes-secrets"]["stringData"].items():
        monkeypatch.setenv(name, value)
    settings = load_settings(Home(tmp_path))
    assert settings.config.store.url == "env:STORE_URL"
    assert settings.config.workers.queue == "procrastinate"
    drain = settings.section("gateway", GatewaySettings).drain_seconds
    for pod in pods():
        assert pod.values[0]["spec"]["terminationGracePeriodSeconds"] > drain + 10
