"""The command line: 0 done, 1 the robot failed, 2 wrong use or input, 3 internal error."""

from __future__ import annotations

import argparse
import importlib
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from mnav_cli.checkout import checkout_root
from mnav_cli.registry import COMMANDS, listed_commands, unknown_command

EXIT_USAGE = 2
EXIT_INTERNAL = 3
EXIT_INTERRUPTED = 130


class OneLineParser(argparse.ArgumentParser):
    """Says in one line on stderr what was wrong and what is allowed, then exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Overrides argparse's usage dump."""
        usage = " ".join(self.format_usage().removeprefix("usage: ").split())
        print(f"mnav: {message}; usage: {usage}", file=sys.stderr)
        raise SystemExit(EXIT_USAGE)


def help_text() -> str:
    """The list of commands."""
    lines = ["usage: ./mnav COMMAND [arguments]", "", f"  {'setup':<8} install what is missing and build the workspace"]
    lines += [f"  {name:<8} {command.help}" for name, command in COMMANDS.items() if not command.hidden]
    return "\n".join([*lines, "", "./mnav COMMAND --help tells more."])


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(help_text())
        return 0 if arguments else EXIT_USAGE
    name, *rest = arguments
    if name not in COMMANDS:
        print(f"mnav: {unknown_command(name) if not name.startswith('-') else unknown_option(name)}", file=sys.stderr)
        return EXIT_USAGE
    from mnav_core.errors import UsageError  # imported late: the help needs nothing but the standard library

    try:
        module = importlib.import_module(COMMANDS[name].module)
        parser = OneLineParser(prog=f"./mnav {name}", description=COMMANDS[name].help, allow_abbrev=False)
        module.configure(parser)
        return int(module.run(parser.parse_args(rest)))
    except UsageError as error:
        print(f"mnav: {' '.join(str(error).split())}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `| head` does.
        return EXIT_INTERNAL
    except Exception as error:  # noqa: BLE001 (the outermost frame)
        log = save_traceback(name)
        print(
            f"mnav: internal error: {type(error).__name__}: {' '.join(str(error).split())[:300]} (traceback in {log})",
            file=sys.stderr,
        )
        return EXIT_INTERNAL


def unknown_option(name: str) -> str:
    """What to say about an option before the command."""
    return f"unknown option {name!r}; allowed: --help, or a command: {', '.join(listed_commands())}"


def save_traceback(command: str) -> Path:
    """Write the current traceback under `.mnav/log`; the file."""
    folder = checkout_root() / ".mnav" / "log"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"crash-{command}-{time.strftime('%Y%m%d-%H%M%S')}.log"
    path.write_text(traceback.format_exc())
    return path
