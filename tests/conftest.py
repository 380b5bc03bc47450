"""Configuration shared by all tests."""

import signal

from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("steady")


def pytest_configure() -> None:
    """Hear Ctrl-C, also in the processes that tests start: a shell makes what it runs in the background ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
