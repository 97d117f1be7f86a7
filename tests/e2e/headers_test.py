"""Rate-limit header fields parsed by a third-party parser of structured fields (RFC 9651), the npm package of
tests/interop; and a client that follows them."""

import json
import subprocess
import time
import unittest
import urllib.parse

from daemon import Daemon, ask, eventually
from grpc_calls import Client, Messages, grpc_port
from npm_packages import install_packages
from redis_server import RedisServer, free_port

NAMES = ("plain", 'say "hi"', "back\\slash\\", "a, b;q=1", "grün 限制 🚰", "?1", ":YQ==:", "it's/one",
         "x" * 200)
RULES = """
server: {headers: SETTING}
domains:
  api:
    rules:
      - name: several
        when: {path: /several}
        key: [user]
        limits:
          burst: 5/2s burst 3
          day: {limit: 100/day, algorithm: sliding_counter}
          short: 7/500ms
          odd: 30/1500ms
      - name: large
        when: {path: /large}
        limit: 1000000000/365d
      - name: soon
        when: {path: /soon}
        key: [user]
        limit: 1/s
      - name: soon-too
        when: {path: /soon}
        key: [user]
        limit: 2/1s
        algorithm: fixed_window
      - name: watched
        when: {path: /soon}
        shadow: true
        limit: 1/day
"""
MOST = 999_999_999_999_999  # largest integer in a structured field


def named_rules():
    """A rule for each name, in JSON, which is valid YAML."""
    return "".join(
        "      - " + json.dumps(rule, ensure_ascii=False) + "\n"
        for rule in ({"name": name, "when": {"name": name}, "limit": "10/m"} for name in NAMES)
    )


def setUpModule():
    Parser.folder = install_packages()


class Parser:
    folder = None

    @classmethod
    def read(cls, questions):
        """The parser's result for each (type, text)."""
        lines = "".join(json.dumps(question) + "\n" for question in questions)
        result = subprocess.run(
            ["node", "parse_fields.mjs"], cwd=cls.folder, input=lines, capture_output=True,
            encoding="utf-8", timeout=30, check=True,
        )
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        if len(answers) != len(questions):
            raise RuntimeError(result.stderr)
        return answers


def check(daemon, cost=1, **attributes):
    body = {"domain": "api", "attributes": attributes, "cost": cost}
    return daemon.ask("POST", "/v1/check", body)


def serve(setting):
    return Daemon(RULES.replace("SETTING", setting) + named_rules())


class FieldsTest(unittest.TestCase):
    def whole(self, value, least=0):
        self.assertIs(type(value), int)
        self.assertTrue(least <= value <= MOST, value)

    def answers(self, setting):
        """Answers of all kinds: every name, several limits, denials, a cost that never fits."""
        with serve(setting) as daemon:
            for name in NAMES:
                yield check(daemon, name=name)
            yield check(daemon, path="/large")
            for user in ("a", "a", "a", "a"):
                yield check(daemon, path="/several", user=user)
            yield check(daemon, cost=4, path="/several", user="b")
            yield daemon.ask("POST", "/v1/take", {"key": 'k"\\é', "limit": "5/m"})
            forwarded = {"X-Forwarded-Uri": "/large"}
            yield daemon.ask("GET", "/v1/forward-auth/api", headers=forwarded)

    def read(self, setting, **types):
        """The parsed fields of these types of every answer."""
        answers = list(self.answers(setting))
        self.assertEqual({answer.status for answer in answers}, {200, 429})
        kinds = {name.replace("_", "-"): kind for name, kind in types.items()}
        questions = [
            (kind, answer.fields[name]) for answer in answers for name, kind in kinds.items()
        ]
        read = iter(Parser.read(questions))
        understood = [{name: next(read) for name in kinds} for _ in answers]
        for fields, (_, text) in zip(
            (value for each in understood for value in each.values()), questions
        ):
            self.assertNotIn("error", fields, text)
        return list(zip(answers, understood))

    def hold_retry_after(self, answer, reset):
        """Retry-After, if present, occurs once and equals the reset everywhere."""
        wait = answer.fields.get("retry-after")
        self.assertEqual(wait is not None, bool(answer.status == 429 and answer.body["retry_after_ms"]))
        if wait is not None:
            self.assertEqual(str(int(wait)), wait)
            self.assertEqual(int(wait), reset)
            self.assertGreaterEqual(int(wait) * 1000, answer.body["retry_after_ms"])

    def test_the_latest_draft(self):
        seen = set()
        for answer, fields in self.read("draft-08", ratelimit="list", ratelimit_policy="list"):
            policies = {name: parameters for name, parameters in fields["ratelimit-policy"]}
            for name, parameters in policies.items():
                self.assertIs(type(name), str)
                self.assertLessEqual(set(parameters), {"q", "w", "penstock-burst"})
                for value in parameters.values():
                    self.whole(value, 1)
                seen.add(urllib.parse.unquote(name))
            ((name, parameters),) = fields["ratelimit"]
            self.assertIn(name, policies)
            self.assertEqual(set(parameters), {"r", "t"})
            self.whole(parameters["r"])
            self.whole(parameters["t"])
            self.hold_retry_after(answer, parameters["t"])
        self.assertLessEqual(set(NAMES) | {"several/burst", "several/short", "request"}, seen)

    def test_the_numbers_of_the_latest_draft(self):
        with serve("draft-08") as daemon:
            answer = check(daemon, path="/several", user="a")
        policy, left = Parser.read(
            [("list", answer.fields["ratelimit-policy"]), ("list", answer.fields["ratelimit"])]
        )
        self.assertEqual(
            policy,
            [["several/burst", {"q": 5, "w": 2, "penstock-burst": 3}],
             ["several/day", {"q": 100, "w": 86400}],
             ["several/short", {"q": 7}],
             ["several/odd", {"q": 30, "w": 2}]],
        )
        self.assertEqual(left, [["several/burst", {"r": 2, "t": 1}]])

    def test_draft_07(self):
        for answer, fields in self.read("draft-07", ratelimit="dictionary", ratelimit_policy="list"):
            self.hold_older_policy(fields["ratelimit-policy"])
            self.assertEqual(set(fields["ratelimit"]), {"limit", "remaining", "reset"})
            for value, parameters in fields["ratelimit"].values():
                self.whole(value)
                self.assertEqual(parameters, {})
            self.hold_retry_after(answer, fields["ratelimit"]["reset"][0])

    def test_draft_06(self):
        types = {f"ratelimit_{name}": "item" for name in ("limit", "remaining", "reset")}
        for answer, fields in self.read("draft-06", ratelimit_policy="list", **types):
            self.hold_older_policy(fields.pop("ratelimit-policy"))
            for value, parameters in fields.values():
                self.whole(value)
                self.assertEqual(parameters, {})
            self.hold_retry_after(answer, fields["ratelimit-reset"][0])

    def hold_older_policy(self, policy):
        for quota, parameters in policy:
            self.whole(quota, 1)
            self.assertEqual(set(parameters), {"w"})
            self.whole(parameters["w"], 1)

    def test_x_ratelimit_headers_and_no_headers(self):
        for answer in self.answers("x-ratelimit"):
            for name in ("limit", "remaining", "reset"):
                text = answer.fields["x-ratelimit-" + name]
                self.assertEqual(str(int(text)), text)
            self.assertNotIn("ratelimit-policy", answer.fields)
            self.hold_retry_after(answer, int(answer.fields["x-ratelimit-reset"]))
        for answer in self.answers('"off"'):
            names = [name for name in answer.fields if name.startswith(("ratelimit", "x-ratelimit-l"))]
            self.assertEqual(names, [])
            self.assertEqual("retry-after" in answer.fields,
                             bool(answer.status == 429 and answer.body["retry_after_ms"]))

    def test_the_reset_of_x_ratelimit_can_be_a_unix_timestamp(self):
        for answer in self.answers("[x-ratelimit-unix, draft-08]"):
            reset = int(answer.fields["x-ratelimit-reset"])
            ((_, parameters),) = Parser.read([("list", answer.fields["ratelimit"])])[0]
            # Rounded up once, from a time within the last second.
            self.assertTrue(-2 <= reset - time.time() - parameters["t"] <= 1, (reset, parameters))

    def test_shadow_limits_are_in_no_header(self):
        with serve("[x-ratelimit, draft-08]") as daemon:
            for user in ("a", "b"):
                answer = check(daemon, path="/soon", user=user)
                self.assertEqual(answer.status, 200)
                self.assertNotIn("watched", str(answer.fields))


class WaitTest(unittest.TestCase):
    def test_a_client_that_waits_for_retry_after_is_admitted(self):
        with serve("draft-08") as daemon:
            for user in ("alice", "bob"):
                self.assertEqual(check(daemon, path="/soon", user=user).status, 200)
                denied = check(daemon, path="/soon", user=user)
                self.assertEqual(denied.status, 429)
                wait = int(denied.fields["retry-after"])
                self.assertEqual(wait, 1)
                time.sleep(wait)
                self.assertEqual(check(daemon, path="/soon", user=user).status, 200)

    def test_a_client_that_waits_until_the_timestamp_is_admitted(self):
        redis = RedisServer()
        self.addCleanup(redis.close)
        for store in ("memory://", redis.url):
            rules = RULES.replace("SETTING", "x-ratelimit-unix") + f"store: {{url: {store}}}\n"
            with Daemon(rules) as daemon:
                self.assertTrue(eventually(lambda: not daemon.admin("/readyz").body["reasons"]))
                self.assertEqual(check(daemon, path="/soon", user="a").status, 200)
                for _ in range(2):  # the second denial is answered from the denial cache
                    denied = check(daemon, path="/soon", user="a")
                    self.assertEqual(denied.status, 429)
                time.sleep(max(0, int(denied.fields["x-ratelimit-reset"]) - time.time()))
                self.assertEqual(check(daemon, path="/soon", user="a").status, 200)

    def test_the_timestamp_of_a_window_is_its_end(self):
        with serve("x-ratelimit-unix") as daemon:
            resets = set()
            for _ in range(20):
                answer = daemon.ask("POST", "/v1/take", {"key": "k", "limit": "10/h fixed_window"})
                resets.add(int(answer.fields["x-ratelimit-reset"]))
                time.sleep(0.1)
        self.assertTrue(all(reset % 3600 == 0 for reset in resets), resets)


class ListenerTest(unittest.TestCase):
    def test_listeners_can_have_different_headers(self):
        gateway, grpc = free_port(), free_port()
        rules = f"""
server: {{headers: x-ratelimit-unix}}
gateway:
  listen: 127.0.0.1:{gateway}
  headers: [x-ratelimit, draft-07]
  upstreams: {{none: {{servers: "http://127.0.0.1:{free_port()}"}}}}
  routes: [{{upstream: none}}]
grpc: {{listen: "127.0.0.1:{grpc}", headers: draft-06}}
domains: {{default: {{rules: [{{name: all, limit: 1/day}}]}}}}
"""
        with Daemon(rules) as daemon:
            body = {"domain": "default", "attributes": {}}
            now = time.time()
            self.assertGreater(int(daemon.ask("POST", "/v1/check", body).fields["x-ratelimit-reset"]), now)
            self.assertGreater(int(daemon.ask("GET", "/v1/forward-auth").fields["x-ratelimit-reset"]), now)
            denied = ask(gateway, "GET", "/")
            self.assertEqual(denied.status, 429)
            self.assertLessEqual(int(denied.fields["x-ratelimit-reset"]), 86400)
            self.assertIn("reset=", denied.fields["ratelimit"])
            with Client(Messages(), grpc_port(daemon)) as client:
                fields = client.ask("default", {"a": "b"}).response_headers_to_add
            names = {field.key.lower() for field in fields}
            self.assertIn("ratelimit-reset", names)
            self.assertNotIn("x-ratelimit-reset", names)


if __name__ == "__main__":
    unittest.main()
