"""The bundled demo study: 20 animals."""

from pathlib import Path

__all__ = ["DEMO"]

#: The study file of the demo.
DEMO = Path(__file__).with_name("study.toml")
