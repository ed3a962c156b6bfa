"""The chart makes what Kubernetes accepts, and says only what driftwatch understands."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import kubernetes_validate
import pytest
from pydantic import SecretStr

import driftwatch
from driftwatch.app import RoleName
from driftwatch.settings import Settings, load_settings
from driftwatch.wire import addresses
from tests.chart.conftest import HERE, VALUES, RefusedError, Rendered

CHART = HERE.parents[1] / "helm" / "driftwatch"
#: the oldest that Chart.yaml names, and the newest there is a schema for
VERSIONS = ("1.27", kubernetes_validate.latest_version())
#: of the Prometheus operator: no part of Kubernetes, so no schema of it
FOREIGN = {"ServiceMonitor", "PrometheusRule"}
SECRETS = {name.upper() for name, field in Settings.model_fields.items() if field.annotation == SecretStr | None}
#: what a pod of a chart must not choose: where it listens, an own database, the demo
THE_CHARTS_OWN = {"HOME", "PG_BIN", "HOST", "PORT", "HEALTH_PORT", "DEMO"}

Render = Callable[[dict[str, Any]], Rendered]


def containers(rendered: Rendered) -> dict[str, dict[str, Any]]:
    return {container["name"]: container for _, pod in rendered.pods() for container in pod["containers"]}


def test_helm_has_nothing_to_complain_about(rendered: Rendered) -> None:
    assert rendered.lint == ()


@pytest.mark.parametrize("version", VERSIONS)
def test_kubernetes_would_take_every_object(rendered: Rendered, version: str) -> None:
    native = [found for found in rendered.objects if found["kind"] not in FOREIGN]
    assert len(native) >= 6
    for found in native:
        kubernetes_validate.validate(found, version, strict=True)


def test_every_role_has_a_deployment_that_names_it(rendered: Rendered) -> None:
    args = {d["metadata"]["labels"]["app.kubernetes.io/component"]: d for d in rendered.of("Deployment")}
    assert set(args) == set(RoleName)
    for role, deployment in args.items():
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        assert container["args"] == ["serve", "--role", role]
        assert "command" not in container  # the image's


def test_every_variable_is_a_setting(rendered: Rendered) -> None:
    known = {name.upper() for name in Settings.model_fields} | {f"{name}_FILE" for name in SECRETS}
    for container in containers(rendered).values():
        names = [variable["name"].removeprefix("DRIFTWATCH_") for variable in container["env"]]
        assert set(names) <= known
        assert len(names) == len(set(names))


def test_what_is_set_arrives(full: Rendered, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for variable in containers(full)["worker"]["env"]:
        value = variable["value"]
        if variable["name"].endswith("_FILE"):
            file = tmp_path / value.rpartition("/")[2]
            file.write_text(f"content of {file.name}")
            value = str(file)
        monkeypatch.setenv(variable["name"], value)
    settings = load_settings()
    assert settings.max_body_bytes == 8388608
    assert settings.reminder_hours == 1.5
    assert settings.public_badges is True
    assert settings.confirm_seconds == (2.0, 6.0)
    assert settings.allow_networks == ("10.1.0.0/16", "fd00:1::/64", "mcp.internal")
    assert settings.host == "::"
    for name in SECRETS:
        secret: SecretStr = getattr(settings, name.lower())
        assert secret.get_secret_value() == f"content of {name}"


def test_the_full_values_name_every_setting_a_chart_may_choose(full: Rendered) -> None:
    properties = json.loads((CHART / "values.schema.json").read_text())["properties"]
    choosable = {name.upper() for name in Settings.model_fields} - SECRETS - THE_CHARTS_OWN
    assert set(properties["settings"]["properties"]) == choosable
    assert set(properties["secretKeys"]["properties"]) == SECRETS
    set_here = {variable["name"].removeprefix("DRIFTWATCH_") for variable in containers(full)["worker"]["env"]}
    assert choosable <= set_here


def test_secrets_are_files_and_never_variables(rendered: Rendered) -> None:
    for name, pod in rendered.pods():
        if name.endswith("-test"):
            assert "volumes" not in pod
            continue
        (volume,) = pod["volumes"]
        paths = {item["path"] for item in volume["secret"]["items"]}
        (container,) = pod["containers"]
        (mount,) = container["volumeMounts"]
        files = {v["value"] for v in container["env"] if v["name"].endswith("_FILE")}
        assert files == {f"{mount['mountPath']}/{path}" for path in paths}
        assert {"DATABASE_URL", "SECRET_KEY", "ADMIN_TOKEN"} <= paths
    assert rendered.of("Secret") == []


def test_every_pod_is_confined_alike(rendered: Rendered) -> None:
    for _, pod in rendered.pods():
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": 10001,
            "runAsGroup": 10001,
            "fsGroup": 10001,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_what_is_not_known_is_refused(render: Render) -> None:
    for values in (
        {"replicas": 3},
        {"settings": {"INTERVAL": 5}},
        {"settings": {"DATABASE_URL": "postgresql://"}},
        {"web": {"replica": 1}},
        {"listener": {"autoscaling": {"enabled": True}}},
        {"networkPolicy": {"enable": False}},
        {"secretKeys": {"DATABASE_URL": ""}},
        {"existingSecret": ""},
    ):
        with pytest.raises(RefusedError):
            render(values)


def test_every_object_in_the_schema_is_closed() -> None:
    open_maps = {
        "podLabels",
        "podAnnotations",
        "nodeSelector",
        "annotations",
        "labels",
        "global",
        "items",
        "quantities",
    }

    def look(name: str, schema: Any) -> None:
        if not isinstance(schema, dict):
            return
        if schema.get("type") == "object" and name not in open_maps:
            assert schema["additionalProperties"] is False, name
        for part in ("properties", "$defs"):
            for key, value in schema.get(part, {}).items():
                look(key, value)

    look("values", json.loads((CHART / "values.schema.json").read_text()))


def test_web_and_worker_can_scale(full: Rendered) -> None:
    scaled = {hpa["spec"]["scaleTargetRef"]["name"]: hpa["spec"] for hpa in full.of("HorizontalPodAutoscaler")}
    assert set(scaled) == {"driftwatch-web", "driftwatch-worker"}
    assert (scaled["driftwatch-worker"]["minReplicas"], scaled["driftwatch-worker"]["maxReplicas"]) == (3, 9)
    for deployment in full.of("Deployment"):
        assert ("replicas" in deployment["spec"]) == (deployment["metadata"]["name"] not in scaled)


def test_the_loss_of_a_node_takes_no_role(full: Rendered, render: Render) -> None:
    for deployment in full.of("Deployment"):
        labels = deployment["spec"]["selector"]["matchLabels"]
        budget = full.named("PodDisruptionBudget", deployment["metadata"]["name"])
        assert budget["spec"]["selector"]["matchLabels"] == labels
        spread = deployment["spec"]["template"]["spec"]["topologySpreadConstraints"]
        assert [one["labelSelector"]["matchLabels"] for one in spread] == [labels, labels]
    # A budget for a single pod would only keep its node from being drained.
    alone = render({"web": {"replicas": 1}})
    assert "dw-driftwatch-web" not in {budget["metadata"]["name"] for budget in alone.of("PodDisruptionBudget")}


def test_what_is_switched_off_is_not_there(render: Render) -> None:
    kinds = {found["kind"] for found in render(VALUES["minimal"]).objects}
    assert kinds == {"Deployment", "Service", "Pod"}


def test_the_world_without_private_space_is_open_to_those_who_need_it(full: Rendered) -> None:
    world = full.named("NetworkPolicy", "driftwatch-world")["spec"]
    (chosen,) = world["podSelector"]["matchExpressions"]
    assert chosen["values"] == ["web", "worker", "listener"]
    public, allowed, extra = world["egress"]
    v4, v6 = (peer["ipBlock"] for peer in public["to"])
    assert set(v4["except"]) == {str(network) for network in addresses._IPV4_NOT_PUBLIC}
    assert v6["cidr"] == str(addresses._IPV6_PUBLIC)
    assert set(v6["except"]) == {str(network) for network in addresses._IPV6_NOT_PUBLIC}
    assert [peer["ipBlock"]["cidr"] for peer in allowed["to"]] == ["10.1.0.0/16", "fd00:1::/64"]
    assert extra["ports"] == [{"port": 3128}]


def test_pages_and_health_have_their_own_visitors(full: Rendered) -> None:
    own = full.named("NetworkPolicy", "driftwatch")["spec"]
    web, health = own["ingress"]
    assert (web["ports"], health["ports"]) == ([{"port": 8787}], [{"port": 8788}])
    assert web["from"] != health["from"]
    assert own["egress"][1]["ports"] == [{"port": 5433}]


def test_probes_ask_the_health_port(rendered: Rendered) -> None:
    for deployment in rendered.of("Deployment"):
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        probes = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
        assert {name: probe["path"] for name, probe in probes.items()} == {
            "startup": "/healthz",
            "liveness": "/healthz",
            "readiness": "/readyz",
        }
        assert {probe["port"] for probe in probes.values()} == {"health"}
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        env = {variable["name"]: variable.get("value") for variable in container["env"]}
        assert str(ports["health"]) == env["DRIFTWATCH_HEALTH_PORT"]
        assert str(ports.get("http", 8787)) == env["DRIFTWATCH_PORT"]


def test_prometheus_finds_the_health_ports(full: Rendered) -> None:
    (monitor,) = full.of("ServiceMonitor")
    service = full.named("Service", "driftwatch-health")
    wanted = monitor["spec"]["selector"]["matchLabels"]
    assert wanted.items() <= service["metadata"]["labels"].items()
    assert monitor["spec"]["endpoints"][0]["port"] in {port["name"] for port in service["spec"]["ports"]}
    for deployment in full.of("Deployment"):
        assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()


def test_migrations_come_before_everything(full: Rendered) -> None:
    (job,) = full.of("Job")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert job["spec"]["template"]["spec"]["containers"][0]["args"] == ["db", "upgrade"]


def test_the_notes_say_how_to_make_the_secret(rendered: Rendered) -> None:
    assert "create secret generic" in rendered.notes
    for key in ("database-url", "secret-key", "admin-token"):
        assert f"--from-literal={key}=" in rendered.notes


def test_chart_and_program_have_one_version(rendered: Rendered) -> None:
    for deployment in rendered.of("Deployment"):
        assert deployment["metadata"]["labels"]["app.kubernetes.io/version"] == driftwatch.__version__
