"""The study that the package brings: 20 animals."""

from pathlib import Path

__all__ = ["DEMO"]

#: Its study file.
DEMO = Path(__file__).with_name("study.toml")
