"""Ask people on a web page which things are alike, and watch the hierarchy grow."""

__version__ = "0.1.0"
