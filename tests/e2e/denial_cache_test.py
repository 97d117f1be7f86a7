"""Denials cached by a daemon equal those of Redis, also after admissions in between, and a client that waits for
Retry-After is admitted."""

import json
import time
import unittest

from daemon import Daemon
from grpc_calls import OK, OVER_LIMIT, Client, Messages, grpc_port
from redis_server import RedisServer
from resp_client import RespClient

ALGORITHMS = ("token_bucket", "gcra", "fixed_window", "anchored_window", "sliding_log",
              "sliding_counter", "sub_windows")
SLACK = 20  # seconds that may pass between two answers on a busy machine


def configuration(url, workers=1):
    rules = "".join(
        f"      - {{name: {name}, when: {{path: /{name}}}, key: [user], limit: 6/h {name}"
        f"{' 10' if name == 'sub_windows' else ''}}}\n"
        for name in ALGORITHMS
    )
    # fail closed: a slow answer on a busy machine is an error, not another number
    return f"""
server: {{workers: {workers}, headers: [x-ratelimit]}}
store: {{url: '{url}', timeout: 5s}}
grpc: {{listen: '127.0.0.1:0'}}
resp: {{listen: '127.0.0.1:0'}}
domains:
  api:
    on_failure: closed
    rules:
{rules}
      - {{name: soon, when: {{path: /soon}}, key: [user], limit: 2/s}}
      - {{name: window, when: {{path: /window}}, key: [user], limit: 2/s fixed_window}}
      - {{name: user, when: {{path: /both}}, key: [user], limit: 2/h}}
      - {{name: wide, when: {{path: /both}}, key: [path], limit: 1000/h}}
  descriptors:
    on_failure: closed
    rules:
      - {{name: one, key: [one], limit: 2/h}}
      - {{name: two, key: [two], limit: 10/h}}
"""


class DenialCacheTest(unittest.TestCase):
    def setUp(self):
        self.server = RedisServer()
        self.addCleanup(self.server.close)

    def daemon(self, workers=1):
        return Daemon(configuration(self.server.url, workers))

    def check(self, daemon, path, cost=1, user="ann"):
        body = {"domain": "api", "attributes": {"path": path, "user": user}, "cost": cost}
        return daemon.ask("POST", "/v1/check", json.dumps(body))

    def scripts_run(self):
        """Number of scripts that Redis ran."""
        return sum(int(line.split("calls=")[1].split(",")[0])
                   for line in self.server.call("INFO", "commandstats").splitlines()
                   if line.startswith(("cmdstat_evalsha:", "cmdstat_eval:")))

    def test_admissions_in_between_change_the_numbers(self):
        for workers in (1, 2):
            with self.subTest(workers=workers), self.daemon(workers) as daemon:
                said = [self.check(daemon, "/gcra", cost) for cost in (2, 6, 1, 6, 1, 6)]
                self.assertEqual([each.status for each in said], [200, 429, 200, 429, 200, 429])
                for denied, remaining, wait in ((said[1], 4, 1200), (said[3], 3, 1800),
                                                (said[5], 2, 2400)):
                    self.assertEqual(denied.fields["x-ratelimit-remaining"], str(remaining))
                    retry_after = int(denied.fields["retry-after"])
                    self.assertTrue(wait - SLACK <= retry_after <= wait, f"{retry_after} of {wait}")
            self.server.call("FLUSHALL")

    def test_cached_denials_equal_those_of_redis_for_every_algorithm(self):
        with self.daemon() as daemon, self.daemon() as other:
            for algorithm in ALGORITHMS:
                # Several costs, each repeated, with admissions in between.
                for cost in (2, 5, 5, 1, 5, 6, 1, 5):
                    last = self.check(daemon, f"/{algorithm}", cost)
                self.assertEqual(last.status, 429)
                truth = self.check(other, f"/{algorithm}", 5)
                with self.subTest(algorithm=algorithm):
                    mine, theirs = last.body["limits"][0], truth.body["limits"][0]
                    self.assertEqual(mine["remaining"], theirs["remaining"])
                    apart = last.body["retry_after_ms"] - truth.body["retry_after_ms"]
                    self.assertTrue(0 <= apart <= SLACK * 1000, f"{apart} ms apart")

    def test_a_client_that_waits_for_retry_after_is_admitted(self):
        with self.daemon(2) as daemon:
            for path in ("/soon", "/window"):
                for _ in range(3):
                    for _ in range(200):
                        denied = self.check(daemon, path, 2)
                        repeated = self.check(daemon, path, 2)
                        if denied.status == repeated.status == 429:
                            break
                    self.assertEqual(repeated.status, 429)
                    time.sleep(repeated.body["retry_after_ms"] / 1000)
                    self.assertEqual(self.check(daemon, path, 2).status, 200)

    def test_repeated_denials_cost_about_one_redis_call_per_second(self):
        for path in ("/gcra", "/sliding_log", "/both"):
            with self.subTest(path=path), self.daemon() as daemon:
                while self.check(daemon, path).status == 200:
                    pass
                before, began = self.scripts_run(), time.monotonic()
                for _ in range(300):
                    self.assertEqual(self.check(daemon, path).status, 429)
                self.assertLessEqual(self.scripts_run() - before,
                                     2 * (time.monotonic() - began) + 4)  # plus a heartbeat per second

    def test_descriptors_that_deny_are_never_reported_as_ok(self):
        messages = Messages()
        with self.daemon() as daemon, Client(messages, grpc_port(daemon)) as client:
            def ask(*descriptors, hits=1):
                said = client.ask("descriptors", *descriptors, hits=hits)
                return [(each.code, each.limit_remaining) for each in said.statuses]
            one, two = {"one": "a"}, {"two": "b"}
            self.assertEqual(ask(one, hits=2), [(OK, 0)])
            self.assertEqual(ask(one, two), [(OVER_LIMIT, 0), (OK, 10)])
            self.assertEqual(ask(two, hits=4), [(OK, 6)])
            self.assertEqual(ask(one, two), [(OVER_LIMIT, 0), (OK, 6)])
            self.assertEqual(ask(two, hits=6), [(OK, 0)])
            self.assertEqual(ask(one, two), [(OVER_LIMIT, 0), (OVER_LIMIT, 0)])
            self.assertEqual(ask(one, two), [(OVER_LIMIT, 0), (OVER_LIMIT, 0)])

    def test_throttle_replies_equally_after_a_denial(self):
        with self.daemon() as daemon, RespClient(daemon.resp_port) as client:
            def throttle(cost):
                return client.ask("CL.THROTTLE", "k", 5, 6, 3600, cost)
            for cost, remaining, wait in ((2, 4, None), (6, 4, 1200), (1, 3, None), (6, 3, 1800),
                                          (1, 2, None), (6, 2, 2400), (4, 2, 1200), (3, 2, 600)):
                limited, limit, left, retry, _ = throttle(cost)
                self.assertEqual((limited, limit, left), (0 if wait is None else 1, 6, remaining))
                if wait is None:
                    self.assertEqual(retry, -1)
                else:
                    self.assertTrue(wait - SLACK <= retry <= wait, f"{retry} of {wait}")


if __name__ == "__main__":
    unittest.main()
