"""Sends signals to a process started by a test."""

import signal
import time
from pathlib import Path

_DEADLINE = 30  # seconds


def _is_stopped(pid):
    """Whether every thread is stopped: the kernel stops them one by one, and one may still answer a request."""
    states = []
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            states.append(stat.read_text(encoding="ascii").rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            pass  # the thread ended
    return all(state == "T" for state in states)


def send_signal(process, which):
    """Sends a signal. After SIGSTOP or SIGTSTP, returns when the process has stopped, which may take a while."""
    process.send_signal(which)
    if which not in (signal.SIGSTOP, signal.SIGTSTP):
        return
    deadline = time.monotonic() + _DEADLINE
    while not _is_stopped(process.pid):
        if time.monotonic() > deadline:
            raise TimeoutError(f"process {process.pid} did not stop")
        time.sleep(0.001)
