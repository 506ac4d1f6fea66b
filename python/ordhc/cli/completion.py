"""`ordhc completion`: a script for completion in the shell."""

import click

from ordhc.cli.help import Command

SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command, no_args_is_help=True)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script by which a shell completes commands, options, names and files.

    It is for SHELL's own folder of such scripts, or its configuration. Names of methods, metrics and so on
    are those that are installed when Tab is pressed, with those of plugins.

    \b
    Examples:
      ordhc completion bash > ~/.local/share/bash-completion/completions/ordhc
      ordhc completion zsh > ~/.zfunc/_ordhc
      ordhc completion fish > ~/.config/fish/completions/ordhc.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    root = click.get_current_context().find_root()
    made = kind(root.command, {}, "ordhc", "_ORDHC_COMPLETE")
    # Without `source`, which looks whether the shell is installed here.
    click.echo(made.source_template % made.source_vars(), nl=False)
