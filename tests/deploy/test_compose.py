"""The compose files against the compose specification and against each other."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import cast

import pytest
import yaml

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
FILES = ("compose.yaml", "compose.production.yaml", "compose.cuda.yaml")
OURS = ("migrate", "embeddings", "mcp", "worker", "api")

Tree = dict[str, object]


class ComposeLoader(yaml.SafeLoader):
    """Knows the tag with which an override takes a value back."""


def _construct_reset(loader: ComposeLoader, node: yaml.Node) -> list[object]:
    """Return the value that an override takes back; only lists are taken back here."""
    return loader.construct_sequence(cast(yaml.SequenceNode, node))


ComposeLoader.add_constructor("!reset", _construct_reset)


def load(name: str) -> Tree:
    # A safe loader with one more tag.
    return cast(Tree, yaml.load((DEPLOY / name).read_text(), Loader=ComposeLoader))  # noqa: S506


def services(name: str = "compose.yaml") -> Mapping[str, Tree]:
    return cast(Mapping[str, Tree], load(name)["services"])


@pytest.mark.parametrize("name", FILES)
def test_a_compose_file_meets_the_specification(name: str, tmp_path: Path) -> None:
    plain = tmp_path / "compose.json"
    plain.write_text(json.dumps(load(name)))
    checked = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", "vendor.compose-spec", plain),
        ],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("name", ["ci", "deploy", "audit", "image"])
def test_a_workflow_meets_its_schema(name: str) -> None:
    path = DEPLOY.parent / f".github/workflows/{name}.yml"
    checked = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema"),
            *("--builtin-schema", "vendor.github-workflows", path),
        ],
        check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("name", OURS)
def test_a_process_of_ours_is_confined_and_limited(name: str) -> None:
    service = services()[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["cpus"]


def test_the_api_has_no_way_to_the_index_and_the_tool_server_no_model_key() -> None:
    api, mcp = services()["api"], services()["mcp"]
    api_secrets, mcp_secrets = cast(list[str], api["secrets"]), cast(list[str], mcp["secrets"])
    assert "index" not in cast(list[str], api["networks"])
    assert not [name for name in api_secrets if "qdrant" in name]
    assert not [name for name in cast(Tree, api["environment"]) if "QDRANT" in name]
    assert not [name for name in mcp_secrets if "openai" in name]


def test_everything_a_service_names_is_declared_and_ordered_by_health() -> None:
    top = load("compose.yaml")
    declared = {kind: set(cast(Tree, top[kind])) for kind in ("secrets", "networks")}
    for service in services().values():
        for kind, known in declared.items():
            assert set(cast(list[str], service.get(kind, []))) <= known
        for needed, how in cast(Mapping[str, Tree], service.get("depends_on", {})).items():
            assert needed in services()
            assert how["condition"] in {"service_healthy", "service_completed_successfully"}


def test_no_secret_is_written_into_a_file() -> None:
    for name in FILES:
        for service in services(name).values():
            environment = cast(Mapping[str, str], service.get("environment", {}))
            assert not [key for key in environment if key.endswith(("_KEY", "_TOKEN", "PASSWORD"))]


def test_only_nginx_is_reachable_from_other_machines() -> None:
    for name, service in services().items():
        ports = cast(list[str], service.get("ports", []))
        if name != "nginx":
            assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_profiles_are_the_layers_and_qdrant_alone() -> None:
    profiles = {name: set(cast(list[str], one["profiles"])) for name, one in services().items()}
    assert {name for name, found in profiles.items() if "qdrant" in found} == {"qdrant"}
    assert all("all" in found for found in profiles.values())
    assert set().union(*profiles.values()) == {"all", "infra", "services", "app", "qdrant"}


def test_production_has_three_nodes_with_two_copies_that_both_confirm() -> None:
    production = services("compose.production.yaml")
    nodes = [production[name] for name in ("qdrant", "qdrant-2", "qdrant-3")]
    for node in nodes:
        environment = cast(Mapping[str, str], node["environment"])
        assert environment["QDRANT__STORAGE__COLLECTION__REPLICATION_FACTOR"] == "2"
        assert environment["QDRANT__STORAGE__COLLECTION__WRITE_CONSISTENCY_FACTOR"] == "2"
    for name in ("api", "mcp"):
        assert cast(Mapping[str, int], production[name]["deploy"])["replicas"] >= 2
    # A published port belongs to one container only.
    assert production["api"]["ports"] == []


def test_the_api_believes_nginx_and_nobody_else_of_a_sender() -> None:
    api, nginx = services()["api"], services()["nginx"]
    trusted = cast(Mapping[str, str], api["environment"])["VOUCH_TRUSTED_PROXIES"].split(",")
    networks = cast(Mapping[str, Mapping[str, str]], nginx["networks"])
    assert trusted == [one["ipv4_address"] for one in networks.values()]
    for name, one in networks.items():
        ipam = cast(Tree, cast(Mapping[str, Tree], load("compose.yaml")["networks"])[name]["ipam"])
        block = cast(list[Mapping[str, str]], ipam["config"])[0]["subnet"]
        assert ip_address(one["ipv4_address"]) in ip_network(block)
