#!/usr/bin/env python3
"""admin_cpu.py [BUILD_DIRECTORY]: CPU time that open pages cost a daemon under load. Five clients ask /state, /history,
/rules and /top once a second each, in turns with rounds without them; prints milliseconds of CPU per second of the
daemon with and without, and the difference: of the whole process, and of the thread that serves the pages, which does
not see the noise of the load. Needs redis-server.

RATE (requests/s, 50000), ROUNDS (6 of each kind), SECONDS (8 per round), CLIENTS (5), STORE (redis or memory)."""

import http.client
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else "build/release")
RATE = int(os.environ.get("RATE", "50000"))
ROUNDS = int(os.environ.get("ROUNDS", "6"))
SECONDS = int(os.environ.get("SECONDS", "8"))
CLIENTS = int(os.environ.get("CLIENTS", "5"))
STORE = os.environ.get("STORE", "redis")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"no listener on port {port}: is the program built?")


def cpu_seconds(pid):
    """Of the process, and of its first thread: the control loop."""
    threads = {int(task.name): int((task / "schedstat").read_text(encoding="utf-8").split()[0]) / 1e9
               for task in Path(f"/proc/{pid}/task").iterdir()}
    return sum(threads.values()), threads[pid]


def poll(port, stop):
    """One open page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    since = 0
    while not stop.is_set():
        for path in ("/state", f"/history?since_ms={since}", "/rules", "/top?by=denied"):
            connection.request("GET", path)
            answer = json.loads(connection.getresponse().read())
            if "step_ms" in answer:
                since = answer["from_ms"] + answer["step_ms"] * len(answer["admitted"])
        stop.wait(1)


def measure(pid, port, clients):
    stop = threading.Event()
    pages = [threading.Thread(target=poll, args=(port, stop)) for _ in range(clients)]
    for page in pages:
        page.start()
    before, began = cpu_seconds(pid), time.monotonic()
    time.sleep(SECONDS)
    after, took = cpu_seconds(pid), time.monotonic() - began
    stop.set()
    for page in pages:
        page.join()
    return [1000 * (now - then) / took for now, then in zip(after, before)]


def main():
    folder = Path(tempfile.mkdtemp())
    started = []
    try:
        listen, admin, redis = free_port(), free_port(), free_port()
        store = "memory://"
        if STORE == "redis":
            started.append(subprocess.Popen(["redis-server", "--port", str(redis), "--bind", "127.0.0.1", "--save", "",
                                             "--dir", str(folder)], stdout=subprocess.DEVNULL))
            wait_for(redis)
            store = f"redis://127.0.0.1:{redis}"
        configuration = folder / "penstock.yaml"
        rules = ", ".join(f"{{name: r{i}, when: {{path: /{i}}}, key: user, limit: 10/s}}" for i in range(20))
        configuration.write_text(
            f"server: {{workers: 1, listen: '127.0.0.1:{listen}', admin: '127.0.0.1:{admin}', forward_auth: {{domain: api}}}}\n"
            f"store: {{url: '{store}'}}\n"
            f"domains: {{api: {{rules: [{{name: all, key: client_ip, limit: 1000/s, mode: lease}}, {rules}]}}}}\n",
            encoding="utf-8")
        daemon = subprocess.Popen([str(BUILD / "penstock"), "serve", "--config", str(configuration), "--shutdown-delay", "0s"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        started.append(daemon)
        wait_for(listen)
        wait_for(admin)
        seconds = 2 * ROUNDS * (SECONDS + 2) + 10
        load = subprocess.Popen([str(BUILD / "penstock"), "bench", "http", f"127.0.0.1:{listen}", "--endpoint",
                                 "forward-auth", "--rate", str(RATE), "--time", f"{seconds}s", "--connections", "50",
                                 "--json"], stdout=subprocess.PIPE)
        started.append(load)
        time.sleep(2)
        results = {0: [], CLIENTS: []}
        for _ in range(ROUNDS):
            for clients in (0, CLIENTS):
                results[clients].append(measure(daemon.pid, admin, clients))
        print(f"{RATE} requests/s, store {STORE}; milliseconds of CPU per second, medians of {ROUNDS} rounds")
        for part, name in enumerate(("process", "control loop")):
            without, with_pages = ([each[part] for each in results[clients]] for clients in (0, CLIENTS))
            pairs = [b - a for a, b in zip(without, with_pages)]
            print(f"{name}: {statistics.median(without):.2f} without, {statistics.median(with_pages):.2f} with {CLIENTS} "
                  f"pages; difference {statistics.median(pairs):.2f} (rounds: " + " ".join(f"{each:.1f}" for each in pairs) + ")")
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
