"""Exit codes and the one line on stderr."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import types

import pytest

from mnav_cli import main as command_line
from mnav_cli.registry import COMMANDS, Command
from mnav_core.errors import UsageError


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["fly"], "mnav: unknown command 'fly'; allowed: setup, demo, test, up, down, status, gen, bench, report"),
        (["--fly"], "mnav: unknown option '--fly'; allowed: --help, or a command: setup,"),
        (["up"], "mnav: the following arguments are required: SYSTEM; usage: ./mnav up"),
        (["up", "no_such_system"], "mnav: unknown system 'no_such_system'; allowed: "),
        (["down", "no_such_system"], "mnav: no running system 'no_such_system'"),
        (["status", "--jsn"], "mnav: unrecognized arguments: --jsn; usage: ./mnav status"),
    ],
)
def test_wrong_use_is_one_line_and_exit_2(arguments: list[str], line: str) -> None:
    command = [sys.executable, "-m", "mnav_cli", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith(line) and result.stderr.count("\n") == 1, result.stderr


def run_with(monkeypatch: pytest.MonkeyPatch, run: object) -> int:
    """`mnav status` with another module behind it."""
    module = types.ModuleType("command_of_test")
    module.configure = lambda parser: None  # type: ignore[attr-defined]
    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "command_of_test", module)
    monkeypatch.setattr(command_line, "COMMANDS", {"status": Command("command_of_test", "")})
    return command_line.main(["status"])


def test_expected_errors_are_exit_2(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def run(args: argparse.Namespace) -> int:
        raise UsageError("robot 'go3':\n allowed: go2")

    assert run_with(monkeypatch, run) == 2
    assert capsys.readouterr().err == "mnav: robot 'go3': allowed: go2\n"


def test_anything_else_is_exit_3_with_the_traceback_in_a_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: object
) -> None:
    def run(args: argparse.Namespace) -> int:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(command_line, "checkout_root", lambda: tmp_path)
    assert run_with(monkeypatch, run) == 3
    line = capsys.readouterr().err
    assert (
        line.startswith("mnav: internal error: ZeroDivisionError: on purpose (traceback in ") and line.count("\n") == 1
    )
    log = line.strip().removesuffix(")").rsplit(" ", 1)[1]
    with open(log) as file:  # noqa: PTH123 (the path as the user would copy it)
        assert "ZeroDivisionError: on purpose" in file.read()


def test_the_commands_outcome_is_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_with(monkeypatch, lambda args: 1) == 1


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_registered_command_is_there_and_documents_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(COMMANDS[name].module)
    parser = argparse.ArgumentParser(prog=name)
    module.configure(parser)
    assert callable(module.run) and parser.format_help()


def test_help_needs_nothing_but_the_standard_library() -> None:
    code = "import sys; from mnav_cli.main import main; main(['--help']); print('yaml' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert result.stdout.endswith("COMMAND --help tells more.\nFalse\n")
