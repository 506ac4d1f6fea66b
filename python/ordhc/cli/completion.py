"""`ordhc completion`: print a script for tab completion in the shell."""

import click

from ordhc.cli.help import Command

SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command, no_args_is_help=True)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the script with which a shell completes commands, options, names and files.

    Save the script in SHELL's folder of completions, or add it to SHELL's configuration. Names of methods,
    metrics and so on are looked up when Tab is pressed, so names from plugins are included.

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
    # Do not call `source`: it checks that the shell is installed on this machine.
    click.echo(made.source_template % made.source_vars(), nl=False)
