"""ROS domains in use and free."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mnav_cli.commands import up
from mnav_cli.domains import bound_udp_ports, domain_ports, lease_domain, lease_free_domain
from mnav_cli.run_files import RunFile
from mnav_cli.supervisor import run_key
from mnav_cli.systems import load_system
from mnav_core.errors import UsageError


def test_ports_are_those_of_the_standard() -> None:
    # DDS-RTPS 9.6.1: PB + DG * domain + d0, + d1 + PG * participant.
    ports = domain_ports(3)
    assert {8150, 8160, 8161, 8162, 8163} <= ports
    assert not ports & domain_ports(4)


def test_a_bound_udp_port_is_seen_and_its_domain_is_in_use(tmp_path: Path) -> None:
    with lease_free_domain("test_a_bound_udp_port") as free:
        domain = free.domain
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as blocker:
            blocker.bind(("127.0.0.1", 7400 + 250 * domain))
            assert 7400 + 250 * domain in bound_udp_ports()
            with pytest.raises(UsageError, match=f"domain {domain} is in use by other ROS nodes"):
                lease_domain(domain, tmp_path)
        lease_domain(domain, tmp_path).release()


def test_two_leases_never_share_a_domain(tmp_path: Path) -> None:
    with lease_free_domain("same", tmp_path) as first, lease_free_domain("same", tmp_path) as second:
        assert first.domain != second.domain
        with pytest.raises(UsageError, match="in use by another mnav system"):
            lease_domain(first.domain, tmp_path)


def test_a_killed_holder_gives_its_domain_back(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, signal\n"
        "from mnav_cli.domains import lease_free_domain\n"
        "lease = lease_free_domain('killed', pathlib.Path(sys.argv[1]))\n"
        "print(lease.domain, flush=True)\nsignal.pause()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    holder = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    domain = int(holder.stdout.readline())
    with pytest.raises(UsageError):
        lease_domain(domain, tmp_path)
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait(10)
    lease_domain(domain, tmp_path).release()


@pytest.mark.parametrize("domain", [0, 102, -1])
def test_domain_out_of_range_is_refused(domain: int) -> None:
    with pytest.raises(UsageError, match="allowed: 1 to 101"):
        lease_domain(domain)


def test_joining_a_domain_needs_its_number_and_another_namespace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(up, "checkout_root", lambda: tmp_path)
    parser = argparse.ArgumentParser()
    up.configure(parser)

    def join(*words: str) -> int:
        args = parser.parse_args([*words, "--join"])
        return up.lease_for(args, load_system(args.system, up.parse_overrides(args.overrides))).domain

    with pytest.raises(UsageError, match=r"--join needs --domain"):
        join("go2")
    with pytest.raises(UsageError, match=r"domain 900 is out of range"):
        join("go2", "--domain", "900")
    with lease_domain(57):
        assert join("go2", "--domain", "57") == 57
        system = load_system("go2", {"namespace": "robot1"})
        RunFile(tmp_path / ".mnav" / "run" / f"{run_key(system, 57)}.json").write(system, 57, [])
        with pytest.raises(UsageError, match=r"'go2' already runs in domain 57 with that namespace"):
            join("go2", "namespace:=robot1", "--domain", "57")
        assert join("go2", "namespace:=robot2", "--domain", "57") == 57
