"""Threads that share the chunks of a kernel.

The kernels release Python's global lock and take chunk after chunk from a shared counter, so a thread that is held up
leaves its share to the others. Each chunk writes to its own memory, and the chunks depend on the strings alone: results
are the same to the last bit whatever the number of threads.
"""

from __future__ import annotations

from unipd.maps.chunks import share

__all__ = ["share"]
