"""The command line; one file a noun, found by listing this folder."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from contextlib import suppress
from typing import Any, NoReturn

import click

from workers.wire.garbage import collect_seldom
from workers.wire.version import __version__


class Nouns(click.Group):
    """A group whose commands are the modules of a package, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the modules beside this one."""
        return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The ``command`` of the module called *cmd_name*."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{__name__}.{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that *args* begin with; of one that there is not, the names that are like it are told."""
        if not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; where nobody reads its output any more, as behind ``| head``, end as such programs do."""
        from coordinator.cli import _failures

        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would exit with 1, which is a failed gate
            sys.exit(_failures.UNREAD)


@click.group(cls=Nouns, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="skillmark")
def skillmark() -> None:
    """Certify the AI skills of a marketplace: functional, security and performance evidence from live calls.

    \b
    Examples:
      skillmark certify catalog/ --out out/
      skillmark certify catalog/ --broker amqp://guest:guest@localhost/
      skillmark worker --broker amqp://guest:guest@localhost/ --processes 2

    \b
    Exit codes: 0 done, 1 gate failed, 2 usage or bad input, 3 broker or store
    unreachable, 4 finished incomplete, 130 interrupted.
    """


def main() -> None:
    """Run the command line and exit with its documented code."""
    from coordinator.cli import _failures

    collect_seldom()
    try:
        code = skillmark.main(standalone_mode=False) or _failures.DONE
    except BaseException as error:
        code = _failures.explain(error)
    _leave(code)


def _leave(code: int) -> NoReturn:
    """End the process now. All that was opened is closed; taking the interpreter apart takes as long as a short run."""
    from coordinator.cli import _failures

    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = code or _failures.UNREAD
    except OSError as error:
        code = _failures.explain(error)
    with suppress(OSError):
        sys.stderr.flush()
    os._exit(code)
