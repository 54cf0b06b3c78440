"""ROS domains: which are in use on this machine, and leasing a free one."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

from mnav_core.errors import UsageError

# Above 101 the ports reach into the range that Linux hands out to clients.
DOMAINS = range(1, 102)
# DDS-RTPS 9.6.1: port = 7400 + 250 * domain + offset; offset 0 is multicast discovery, 10 + 2 * participant unicast.
PORT_BASE = 7400
PORTS_PER_DOMAIN = 250
PARTICIPANTS_LOOKED_AT = 60


def domain_ports(domain: int) -> set[int]:
    """The UDP ports on which participants of `domain` listen."""
    base = PORT_BASE + PORTS_PER_DOMAIN * domain
    return {base, base + 1, *range(base + 10, base + 12 + 2 * PARTICIPANTS_LOOKED_AT)}


def bound_udp_ports(tables: Iterable[Path] = (Path("/proc/net/udp"), Path("/proc/net/udp6"))) -> set[int]:
    """Local UDP ports bound by anyone in this network namespace."""
    ports: set[int] = set()
    for table in tables:
        if not table.exists():
            continue
        for line in table.read_text().splitlines()[1:]:
            ports.add(int(line.split()[1].rsplit(":", 1)[1], 16))
    return ports


class DomainLease:
    """A domain that no other lease on this machine holds. Ends with `release`, or with the process however it ends."""

    def __init__(self, domain: int, descriptor: int) -> None:
        self.domain = domain
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Give the domain back; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> DomainLease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _try_lease(domain: int, folder: Path) -> DomainLease | None:
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / f"{domain}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return DomainLease(domain, descriptor)


def lease_folder() -> Path:
    """Where this user's leases lie, shared by all checkouts."""
    return Path(tempfile.gettempdir()) / f"mnav-domains-{os.getuid()}"


def lease_domain(domain: int, folder: Path | None = None) -> DomainLease:
    """Lease `domain`. Raises UsageError if it is out of range, leased, or has participants."""
    if domain not in DOMAINS:
        raise UsageError(f"domain {domain} is out of range; allowed: {DOMAINS[0]} to {DOMAINS[-1]}")
    lease = _try_lease(domain, folder or lease_folder())
    if lease is None:
        raise UsageError(
            f"domain {domain} is in use by another mnav system; choose another with --domain, or leave it out"
        )
    if domain_ports(domain) & bound_udp_ports():
        lease.release()
        raise UsageError(f"domain {domain} is in use by other ROS nodes; choose another with --domain, or leave it out")
    return lease


def join_domain(domain: int) -> DomainLease:
    """A lease that shares `domain` with whoever is there: nothing is locked. Raises UsageError out of range."""
    if domain not in DOMAINS:
        raise UsageError(f"domain {domain} is out of range; allowed: {DOMAINS[0]} to {DOMAINS[-1]}")
    return DomainLease(domain, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))


def lease_free_domain(near: str, folder: Path | None = None) -> DomainLease:
    """Lease the first free domain, beginning where the text `near` hashes to. Raises UsageError if none is free."""
    folder = folder or lease_folder()
    bound = bound_udp_ports()
    first = int.from_bytes(hashlib.sha256(near.encode()).digest()[:4], "little")
    for offset in range(len(DOMAINS)):
        domain = DOMAINS[(first + offset) % len(DOMAINS)]
        if domain_ports(domain) & bound:
            continue
        lease = _try_lease(domain, folder)
        if lease is not None:
            return lease
    raise UsageError(f"no ROS domain from {DOMAINS[0]} to {DOMAINS[-1]} is free on this machine")
