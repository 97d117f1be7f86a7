"""Sends signals to a process that a test has started."""

import signal
import time
from pathlib import Path

_DEADLINE = 30  # seconds


def _is_stopped(pid):
    """Every thread is: the kernel stops them one by one, and one that still runs may answer a request."""
    states = []
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            states.append(stat.read_text(encoding="ascii").rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            pass  # the thread ended
    return all(state == "T" for state in states)


def send_signal(process, which):
    """After SIGSTOP it returns when the process has stopped, which takes a while on a busy machine."""
    process.send_signal(which)
    if which != signal.SIGSTOP:
        return
    deadline = time.monotonic() + _DEADLINE
    while not _is_stopped(process.pid):
        if time.monotonic() > deadline:
            raise TimeoutError(f"process {process.pid} did not stop")
        time.sleep(0.001)
