"""`mnav test`: lint, types, imports and every test, as CI runs them."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass

from mnav_cli.checkout import checkout_root
from mnav_cli.graphics import use_backend

EXIT_FAILED = 1
WORKERS = 2


@dataclass(frozen=True)
class Check:
    """One check before the tests: a name and the module that is run."""

    name: str
    arguments: tuple[str, ...]


CHECKS = (
    Check("ruff", ("-m", "ruff", "check", "--no-cache", "src", "launch", "test", "conftest.py")),
    Check("mypy", ("-m", "mypy", "--no-error-summary")),
    Check(
        "import-linter",
        ("-c", "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"),
    ),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Whatever pytest takes."""
    parser.add_argument(
        "pytest_arguments", nargs=argparse.REMAINDER, metavar="ARGUMENT", help="given to pytest as they are"
    )


def run(args: argparse.Namespace) -> int:
    """Run the checks, then the tests (with arguments, only the tests); pytest's closing line comes last."""
    root = checkout_root()
    if args.pytest_arguments:
        return _pytest(args.pytest_arguments)
    failed = []
    for check in CHECKS:
        started = time.monotonic()
        arguments = [word for word in check.arguments if not _is_missing_path(word)]
        result = subprocess.run([sys.executable, *arguments], cwd=root, capture_output=True, text=True, check=False)
        verdict = "ok" if result.returncode == 0 else "failed"
        print(f"{check.name}: {verdict} ({time.monotonic() - started:.0f} s)", flush=True)
        if result.returncode != 0:
            failed.append(check.name)
            print(result.stdout + result.stderr, flush=True)
    if failed:
        print(f"failed before the tests: {', '.join(failed)}", flush=True)
    status = _pytest(["-q", "-n", str(WORKERS), "--dist", "loadfile"])
    return EXIT_FAILED if failed or status != 0 else 0


def _is_missing_path(word: str) -> bool:
    return word in ("src", "launch", "test", "conftest.py") and not (checkout_root() / word).exists()


def _pytest(arguments: list[str]) -> int:
    """Run pytest at the checkout's root with standard output as it is; its exit code."""
    # MuJoCo takes its GL backend from the environment at import, whichever test imports it first.
    use_backend()
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=checkout_root(), check=False).returncode
