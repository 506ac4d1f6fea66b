"""Run tasks in an executor, for plugins: results are in the order of the tasks, and workers share the cores.

>>> from concurrent.futures import ThreadPoolExecutor
>>> from ordhc.executors import run_tasks
>>> with ThreadPoolExecutor(2) as executor:
...     run_tasks(executor, pow, [(2, 3), (3, 2)])
[8, 9]
"""

from ordhc._workers import as_executor, run_tasks

__all__ = ["as_executor", "run_tasks"]
__dir__ = __all__.copy
