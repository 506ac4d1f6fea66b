"""The bundled demo study with 20 animals, and the study that `ordhc collect --init` writes."""

from pathlib import Path

__all__ = ["DEMO", "TEMPLATE"]

DEMO = Path(__file__).with_name("study.toml")
#: The folder of the study that `--init` writes, without the pictures: `--init` copies those of the demo.
TEMPLATE = Path(__file__).with_name("template")
