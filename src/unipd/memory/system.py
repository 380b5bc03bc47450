"""What the system says of its memory and of this process."""

from __future__ import annotations

import os
import sys


def container_memory() -> int:
    """Return what a control group leaves, or a very large number without one."""
    folder = "/sys/fs/cgroup"
    try:
        with open(f"{folder}/memory.max", encoding="ascii") as limit, open(f"{folder}/memory.current") as used:
            return max(0, int(limit.read()) - int(used.read()))
    except (OSError, ValueError):
        return sys.maxsize


def machine_memory() -> int:
    """Return what the machine has left, or all of its memory where it does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def resident_memory() -> int:
    """Return the bytes of memory that this process holds now (where the system does not tell, its peak)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as numbers:
            return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return peak_memory()


def peak_memory() -> int:
    """Return the largest resident size of this process so far, in bytes."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) if sys.platform == "darwin" else int(peak) * 1024


def size_text(count: float) -> str:
    """Return a number of bytes with its unit.

    >>> size_text(2_500_000)
    '2.5 MB'
    """
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000.0:
            return f"{value:.3g} {unit}"
        value /= 1000.0
    return f"{value:.3g} TB"
