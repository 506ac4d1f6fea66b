"""What the benchmarks share: medians, tables, and peak memory in a process of its own."""

import statistics
import subprocess
import sys
import time


def median_seconds(work, repeats):
    """The median time of `repeats` runs, after none to warm up but the first, which counts."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def alternating(works, repeats, clock=time.perf_counter):
    """Medians of several works, run in turn so that a noisy moment hits all of them.

    The clock may be `time.process_time`: of all threads, and the same whatever else the machine does.
    """
    times = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            start = clock()
            work()
            times[name].append(clock() - start)
    return {name: statistics.median(values) for name, values in times.items()}


PEAK = """
try:
    # Not getrusage: its maximum is inherited from the process that forked this one.
    lines = open("/proc/self/status").read().splitlines()
    print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")))
except OSError:
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_megabytes(code):
    """The peak resident memory of a fresh Python that runs `code`."""
    done = subprocess.run([sys.executable, "-c", code + PEAK], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1]) / 1024


def table(header, rows):
    """Print a Markdown table."""
    print("| " + " | ".join(header) + " |")
    print("|" + " --- |" * len(header))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)
    print()
