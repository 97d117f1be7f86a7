"""Incidents for the operator's page: rules, daemons on one Redis, and clients that send requests."""

import contextlib
import subprocess
import threading
import time
from http.client import HTTPException

from daemon import Daemon, ask
from redis_server import RedisServer

RULES = """
domains:
  api:
    rules:
      - name: search
        description: full-text search
        when: {path: /v1/search}
        key: [user]
        limit: 20/m burst 10
        on_failure: open
      - name: per-user
        key: [user]
        limit: 6000/m
        on_failure: local
      - name: login
        when: {path: /login}
        key: [client_ip]
        limit: 5/m sliding_log
        on_failure: closed
      - name: uploads
        when: {path: /v1/upload}
        key: [user]
        limit: 2/s burst 2
        shadow: true
"""


def configuration(redis, rules=RULES):
    return f"store: {{url: '{redis.url}', timeout: 200ms}}\nserver: {{workers: 1}}\nnodes: auto\n{rules}"


class RestartableRedis(RedisServer):
    """Can be started again on its port."""

    def start(self):
        self._process = subprocess.Popen(self._command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not self._is_up():
            raise RuntimeError("redis-server does not start again")


class Traffic:
    """Clients in the background: `users` has the requests per second of each."""

    INTERVAL = 0.05  # seconds between batches

    def __init__(self, daemons, users, path="/v1/search"):
        self._daemons = daemons
        self._users = users
        self._path = path
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        owed = dict.fromkeys(self._users, 0.0)
        turn = 0
        last = time.monotonic()
        while not self._stop.wait(self.INTERVAL):
            now = time.monotonic()
            elapsed, last = min(now - last, 1), now
            checks = []
            for user, rate in self._users.items():
                owed[user] += rate * elapsed
                checks += [check(user, self._path)] * int(owed[user])
                owed[user] -= int(owed[user])
            turn += 1
            if checks:
                with contextlib.suppress(OSError, HTTPException):  # a daemon that is stopped
                    ask(self._daemons[turn % len(self._daemons)].port, "POST", "/v1/checks", checks[:1000])

    def close(self):
        self._stop.set()
        self._thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def check(user, path="/v1/search"):
    return {"domain": "api", "attributes": {"path": path, "user": user}}


def outcome(daemon, user, path="/v1/search"):
    """How a request of this user is decided: allowed, denied or blocked."""
    answer = daemon.ask("POST", "/v1/check", check(user, path))
    return answer.body.get("outcome", answer.body)


@contextlib.contextmanager
def fleet(count=1):
    """A Redis and daemons on it."""
    redis = RestartableRedis()
    with contextlib.ExitStack() as stack:
        stack.callback(redis.close)
        yield redis, [stack.enter_context(Daemon(configuration(redis))) for _ in range(count)]
