"""The gRPC listener with a third-party client: Debian's python3-grpcio."""

import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from daemon import Daemon, eventually
from grpc_calls import (
    HEALTH, NOT_SERVING, OK, OVER_LIMIT, TIMEOUT, RATE_LIMIT, REFLECTIONS, SERVICE_UNKNOWN, SERVING, Client,
    Messages, descriptor_set, grpc, grpc_port,
)
from redis_server import RedisServer
from server_process import require
from tls_test import Certificates

RULES = """
server: {headers: draft-08, shutdown_grace: 5s}
grpc: {listen: "127.0.0.1:0" MORE}
STORE
domains:
  edge:
    rules:
      - name: login
        when: {route: login}
        key: [remote_address]
        limit: 3/hour
      - name: tokens
        when: {route: complete}
        key: [api_key]
        limit: 10/hour
        count_denied: true
      - name: crowd
        when: {route: crowd}
        limit: 500/hour
      # Counts charges exactly: nothing refills during the test.
      - name: total
        when: {route: total}
        limit: 1000000/365d
        algorithm: fixed_window
      - name: odd
        when: {route: odd}
        limit: 7/90s
"""
HOUR = 3


def rules(more="", store=""):
    return RULES.replace(" MORE", more).replace("STORE", store)


def setUpModule():
    Shared.messages = Messages()


class Shared:
    messages = None


class GrpcCase(unittest.TestCase):
    """One daemon for all tests of a class; each test uses its own keys."""

    configuration = rules()

    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon(cls.configuration)
        cls.addClassCleanup(cls.daemon.close)
        cls.port = grpc_port(cls.daemon)

    def setUp(self):
        self.client = Client(Shared.messages, self.port)
        self.addCleanup(self.client.close)

    def fails_with(self, code, call, *arguments, **options):
        with self.assertRaises(grpc.RpcError) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.code(), code, caught.exception.details())
        return caught.exception.details()


class DecisionTest(GrpcCase):
    def test_admits_up_to_the_limit_and_denies_the_rest(self):
        codes = [self.client.ask("edge", {"route": "login", "remote_address": "a"}).overall_code for _ in range(5)]
        self.assertEqual(codes, [OK] * 3 + [OVER_LIMIT] * 2)

    def test_reports_the_remaining_quota_of_each_limit(self):
        for left in (2, 1, 0):
            (status,) = self.client.ask("edge", {"route": "login", "remote_address": "b"}).statuses
            self.assertEqual((status.code, status.limit_remaining), (OK, left))
            limit = status.current_limit
            self.assertEqual((limit.requests_per_unit, limit.unit, limit.name), (3, HOUR, "login"))
            self.assertTrue(1 <= status.duration_until_reset.seconds <= 3600)
            self.assertEqual(status.duration_until_reset.nanos, 0)
        (status,) = self.client.ask("edge", {"route": "login", "remote_address": "b"}).statuses
        self.assertEqual((status.code, status.limit_remaining), (OVER_LIMIT, 0))
        self.assertTrue(1 <= status.duration_until_reset.seconds <= 1200)

    def test_has_a_status_for_each_descriptor_in_order(self):
        asked = ({"unknown": "x"}, {"route": "login", "remote_address": "c"}, {"route": "odd"})
        answer = self.client.ask("edge", *asked)
        self.assertEqual(answer.overall_code, OK)
        names = [status.current_limit.name if status.HasField("current_limit") else None
                 for status in answer.statuses]
        self.assertEqual(names, [None, "login", "odd"])
        self.assertEqual({status.code for status in answer.statuses}, {OK})

    def test_a_period_without_an_envoy_unit_has_no_unit(self):
        (status,) = self.client.ask("edge", {"route": "odd"}).statuses
        self.assertEqual((status.current_limit.requests_per_unit, status.current_limit.unit), (7, 0))

    def test_a_denial_charges_no_other_descriptor(self):
        for _ in range(3):
            self.client.ask("edge", {"route": "login", "remote_address": "d"})
        both = ({"route": "login", "remote_address": "d"}, {"route": "login", "remote_address": "e"})
        answer = self.client.ask("edge", *both)
        self.assertEqual(answer.overall_code, OVER_LIMIT)
        self.assertEqual([status.code for status in answer.statuses], [OVER_LIMIT, OK])
        (status,) = self.client.ask("edge", {"route": "login", "remote_address": "e"}).statuses
        self.assertEqual(status.limit_remaining, 2)

    def test_adds_headers_for_the_downstream_client(self):
        answer = self.client.ask("edge", {"route": "login", "remote_address": "f"})
        headers = {field.key.lower(): field.value for field in answer.response_headers_to_add}
        self.assertIn('"login";r=2', headers["ratelimit"])
        self.assertNotIn("retry-after", headers)
        for _ in range(3):
            answer = self.client.ask("edge", {"route": "login", "remote_address": "f"})
        headers = {field.key.lower(): field.value for field in answer.response_headers_to_add}
        self.assertTrue(1 <= int(headers["retry-after"]) <= 1200)

    def test_an_unknown_domain_is_not_limited(self):
        answer = self.client.ask("elsewhere", {"a": "b"})
        self.assertEqual(answer.overall_code, OK)
        self.assertEqual(len(answer.statuses), 1)
        self.assertFalse(answer.statuses[0].HasField("current_limit"))

    def test_invalid_requests_fail_as_with_the_reference_server(self):
        for asked, text in ((("", {"a": "b"}), "domain must not be empty"),
                            (("edge",), "descriptor list must not be empty")):
            said = self.fails_with(grpc.StatusCode.UNKNOWN, self.client.ask, *asked)
            self.assertIn(text, said)

    def test_a_limit_without_a_unit_is_invalid(self):
        asked = ({"a": "b"}, {"limit": (5, 0)})
        self.fails_with(grpc.StatusCode.INVALID_ARGUMENT, self.client.ask, "edge", asked)

    def test_counts_the_requests_of_the_listener(self):
        self.client.ask("edge", {"route": "odd"})
        self.assertTrue(eventually(lambda: self.daemon.metric('penstock_listener_requests_total{listener="grpc"}') >= 1))


class HitsTest(GrpcCase):
    def key(self, name):
        return {"route": "complete", "api_key": name}

    def left(self, name):
        """Without charging."""
        (status,) = self.client.ask("edge", (self.key(name), {"hits": 0})).statuses
        return status.limit_remaining

    def test_hits_of_the_request_are_charged_for_each_descriptor(self):
        answer = self.client.ask("edge", self.key("a"), self.key("b"), hits=4)
        self.assertEqual([status.limit_remaining for status in answer.statuses], [6, 6])

    def test_hits_of_a_descriptor_replace_those_of_the_request(self):
        answer = self.client.ask("edge", self.key("c"), (self.key("d"), {"hits": 3}), hits=5)
        self.assertEqual([status.limit_remaining for status in answer.statuses], [5, 7])

    def test_zero_hits_are_a_peek(self):
        for _ in range(20):
            self.assertEqual(self.left("e"), 10)
        self.client.ask("edge", self.key("e"), hits=10)
        answer = self.client.ask("edge", (self.key("e"), {"hits": 0}))
        self.assertEqual(answer.overall_code, OVER_LIMIT)

    def test_peek_then_charge_leaves_no_quota_unused_forever(self):
        for tokens in (4, 4, 4):
            self.assertEqual(self.client.ask("edge", (self.key("f"), {"hits": 0})).overall_code, OK)
            self.client.ask("edge", (self.key("f"), {"hits": tokens}))
        self.assertEqual(self.client.ask("edge", (self.key("f"), {"hits": 0})).overall_code, OVER_LIMIT)

    def test_hits_can_be_refunded(self):
        self.client.ask("edge", self.key("g"), hits=8)
        self.client.ask("edge", (self.key("g"), {"hits": 5, "refund": True}))
        self.assertEqual(self.left("g"), 7)

    def test_more_than_the_capacity_is_denied(self):
        self.assertEqual(self.client.ask("edge", (self.key("h"), {"hits": 10**9})).overall_code, OVER_LIMIT)

    def test_a_limit_in_the_request_replaces_the_rule(self):
        mine = (self.key("i"), {"limit": (2, HOUR)})
        codes = [self.client.ask("edge", mine).overall_code for _ in range(3)]
        self.assertEqual(codes, [OK, OK, OVER_LIMIT])


class ProtocolTest(GrpcCase):
    def test_unknown_methods_are_unimplemented(self):
        for path in ("/x.Y/Z", f"/{RATE_LIMIT}/Other", "/"):
            self.fails_with(grpc.StatusCode.UNIMPLEMENTED, self.client.raw, path)

    def test_a_malformed_message_is_rejected_and_the_connection_stays_open(self):
        with self.assertRaises(grpc.RpcError) as caught:
            self.client.raw(f"/{RATE_LIMIT}/ShouldRateLimit", b"\xff\xff\xff")
        self.assertIn(caught.exception.code(), (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.INTERNAL))
        self.assertEqual(self.client.ask("elsewhere", {"a": "b"}).overall_code, OK)

    def test_a_message_that_is_too_large_is_rejected_and_the_connection_stays_open(self):
        self.fails_with(grpc.StatusCode.RESOURCE_EXHAUSTED, self.client.ask, "edge", {"a": "x" * (2 << 20)})
        self.assertEqual(self.client.ask("elsewhere", {"a": "b"}).overall_code, OK)

    def test_a_large_message_that_fits_is_read(self):
        self.assertEqual(self.client.ask("elsewhere", {"a": "x" * 60_000}).overall_code, OK)

    def test_compressed_messages_are_read(self):
        answer = self.client.ask("elsewhere", {"a": "x" * 5000}, compression=grpc.Compression.Gzip)
        self.assertEqual(answer.overall_code, OK)

    def test_a_thousand_calls_at_once_are_counted_one_by_one(self):
        clients = [Client(Shared.messages, self.port) for _ in range(4)]
        for client in clients:
            self.addCleanup(client.close)
        calls = [client.start("edge", {"route": "crowd"}) for _ in range(250) for client in clients]
        codes = [call.result().overall_code for call in calls]
        self.assertEqual((codes.count(OK), codes.count(OVER_LIMIT)), (500, 500))

    def test_h2load_gets_an_answer_to_every_call(self):
        require("h2load")
        folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        message = Shared.messages.question("elsewhere", {"a": "b"}).SerializeToString()
        (folder / "body").write_bytes(b"\0" + len(message).to_bytes(4, "big") + message)
        result = subprocess.run(
            ["h2load", "-n", "2000", "-c", "4", "-m", "32", "-d", str(folder / "body"),
             "-H", "content-type: application/grpc", "-H", "te: trailers",
             f"http://127.0.0.1:{self.port}/{RATE_LIMIT}/ShouldRateLimit"],
            capture_output=True, encoding="utf-8", timeout=60, check=False,
        )
        self.assertIn("2000 succeeded, 0 failed, 0 errored", result.stdout)
        self.assertIn("status codes: 2000 2xx", result.stdout)


class HealthTest(GrpcCase):
    def test_the_daemon_is_serving(self):
        for service in ("", RATE_LIMIT, "ratelimit"):
            self.assertEqual(self.client.health(service), SERVING, service)

    def test_an_unknown_service_is_not_found(self):
        self.fails_with(grpc.StatusCode.NOT_FOUND, self.client.health, "nothing")
        watch = self.client.watch("nothing")
        self.assertEqual(next(watch).status, SERVICE_UNKNOWN)
        watch.cancel()

    def test_watchers_are_notified_of_shutdown(self):
        with Daemon(rules()) as daemon, Client(Shared.messages, grpc_port(daemon)) as client:
            watch = client.watch()
            self.assertEqual(next(watch).status, SERVING)
            daemon.signal(signal.SIGTERM)
            self.assertEqual(next(watch).status, NOT_SERVING)
            watch.cancel()
            self.assertEqual(daemon.wait(), 0)


class ReflectionTest(GrpcCase):
    def reflect(self, service, **question):
        takes, _ = Shared.messages.method(service, "ServerReflectionInfo")
        call = self.client.call(service, "ServerReflectionInfo", "stream_stream")
        (answer,) = call(iter([takes(**question)]), timeout=TIMEOUT)
        return answer

    def test_lists_its_services(self):
        for service in REFLECTIONS:
            listed = {each.name for each in
                      self.reflect(service, list_services="*").list_services_response.service}
            self.assertLessEqual({RATE_LIMIT, HEALTH}, listed)

    def test_describes_a_service_completely(self):
        from google.protobuf import descriptor_pb2
        files = {file.name: file for file in descriptor_pb2.FileDescriptorSet.FromString(descriptor_set()).file}
        for service in REFLECTIONS:
            answer = self.reflect(service, file_containing_symbol=RATE_LIMIT)
            described = [descriptor_pb2.FileDescriptorProto.FromString(each)
                         for each in answer.file_descriptor_response.file_descriptor_proto]
            (own,) = [file for file in described if any(each.name == "RateLimitService" for each in file.service)]
            self.assertEqual([each.name for each in own.message_type],
                             [each.name for each in files[own.name].message_type])

    def test_an_unknown_symbol_is_not_found(self):
        for service in REFLECTIONS:
            answer = self.reflect(service, file_containing_symbol="no.such.Thing")
            self.assertEqual(answer.error_response.error_code, grpc.StatusCode.NOT_FOUND.value[0])


class HangingStoreTest(unittest.TestCase):
    """Calls that wait for a hanging Redis."""

    def setUp(self):
        require("redis-server")
        self.redis = RedisServer()
        self.addCleanup(self.redis.close)
        store = f"store: {{url: '{self.redis.url}', timeout: 10s, breaker_failures: 1000}}"
        self.daemon = Daemon(rules(store=store))
        self.addCleanup(self.daemon.close)
        self.client = Client(Shared.messages, grpc_port(self.daemon))
        self.addCleanup(self.client.close)
        first = self.client.ask("edge", {"route": "crowd"})
        self.assertEqual(first.overall_code, OK)

    def hang(self):
        self.redis.signal(signal.SIGSTOP)
        self.addCleanup(self.redis.signal, signal.SIGCONT)

    def serves_again(self):
        self.redis.signal(signal.SIGCONT)
        answer = self.client.ask("edge", {"route": "login", "remote_address": "z"})
        self.assertEqual(answer.overall_code, OK)

    def test_a_deadline_ends_the_call_in_time(self):
        self.hang()
        start = time.monotonic()
        try:
            self.client.ask("edge", {"route": "crowd"}, timeout=0.1)
        except grpc.RpcError as error:
            self.assertEqual(error.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assertLess(time.monotonic() - start, 8)  # far below the store timeout
        self.serves_again()

    def test_cancelled_calls_do_not_block_others(self):
        self.hang()
        calls = [self.client.start("edge", {"route": "crowd"}) for _ in range(200)]
        for call in calls:
            self.assertTrue(call.cancel())
        self.serves_again()

    def test_calls_in_flight_are_answered_before_the_daemon_stops(self):
        self.hang()
        calls = [self.client.start("edge", {"route": "crowd"}) for _ in range(50)]
        time.sleep(0.3)  # until they have arrived
        self.daemon.signal(signal.SIGTERM)
        self.redis.signal(signal.SIGCONT)
        self.assertEqual([call.result().overall_code for call in calls], [OK] * 50)
        self.assertEqual(self.daemon.wait(), 0)


class ShutdownTest(unittest.TestCase):
    def test_every_accepted_call_is_answered(self):
        require("redis-server")
        redis = RedisServer()
        self.addCleanup(redis.close)
        # A slow Redis must not let uncounted requests pass here.
        store = f"store: {{url: '{redis.url}', timeout: 5s}}"
        total = {"route": "total"}
        answered, others = [], []

        def ask_on(port):
            with Client(Shared.messages, port) as client:
                while not others:
                    try:
                        answered.append(client.ask("edge", total).overall_code)
                    except grpc.RpcError as error:
                        others.append(error.code())

        with Daemon(rules(store=store)) as daemon:
            port = grpc_port(daemon)
            threads = [threading.Thread(target=ask_on, args=(port,)) for _ in range(8)]
            for thread in threads:
                thread.start()
            self.assertTrue(eventually(lambda: len(answered) > 200))
            daemon.signal(signal.SIGTERM)
            for thread in threads:
                thread.join(TIMEOUT)
            self.assertEqual(daemon.wait(), 0)
        self.assertEqual(set(answered), {OK})
        self.assertLessEqual(set(others), {grpc.StatusCode.UNAVAILABLE})
        with Daemon(rules(store=store)) as daemon, Client(Shared.messages, grpc_port(daemon)) as client:
            (status,) = client.ask("edge", (total, {"hits": 0})).statuses
        self.assertEqual(1_000_000 - status.limit_remaining, len(answered))


class ReloadTest(unittest.TestCase):
    def test_settings_that_need_a_restart_are_named(self):
        with Daemon(rules()) as daemon:
            grpc_port(daemon)
            text = rules(more=", max_streams: 7, headers: false").replace("127.0.0.1:0", "127.0.0.1:1")
            daemon.configuration.write_text(text, encoding="utf-8")
            daemon.wait_for_output('settings="grpc.listen"')


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require("openssl")
        certificates = Certificates()
        cls.addClassCleanup(certificates.close)
        cls.server, cls.known, cls.untrusted = (certificates.make(n) for n in ("server", "known", "untrusted"))

    def serve(self, more=""):
        files = {"server.pem": self.server[0].read_text(), "server.key": self.server[1].read_text(),
                 "clients.pem": self.known[0].read_text()}
        daemon = Daemon(rules(more=f", tls: {{certificate: server.pem, key: server.key{more}}}"), files=files)
        self.addCleanup(daemon.close)
        return daemon

    def ask(self, daemon, pair=None):
        key, chain = (pair[1].read_bytes(), pair[0].read_bytes()) if pair else (None, None)
        credentials = grpc.ssl_channel_credentials(self.server[0].read_bytes(), key, chain)
        with Client(Shared.messages, grpc_port(daemon), credentials) as client:
            return client.ask("edge", {"route": "login", "remote_address": "t"}).overall_code

    def test_serves_over_tls(self):
        self.assertEqual(self.ask(self.serve()), OK)

    def test_serves_a_new_certificate_when_its_files_change(self):
        daemon = self.serve()
        self.assertEqual(self.ask(daemon), OK)
        for name, source in (("server.key", self.known[1]), ("server.pem", self.known[0])):
            fresh = daemon.folder / (name + ".new")
            shutil.copy(source, fresh)
            fresh.rename(daemon.folder / name)

        def trusts_the_new_one():
            credentials = grpc.ssl_channel_credentials(self.known[0].read_bytes())
            with Client(Shared.messages, grpc_port(daemon), credentials) as client:
                try:
                    return client.ask("edge", {"route": "odd"}, timeout=2).overall_code == OK
                except grpc.RpcError:
                    return False

        self.assertTrue(eventually(trusts_the_new_one))

    def test_clients_without_tls_are_rejected(self):
        with Client(Shared.messages, grpc_port(self.serve())) as client:
            with self.assertRaises(grpc.RpcError):
                client.ask("edge", {"a": "b"}, timeout=2)

    def test_clients_must_present_a_certificate_with_client_ca(self):
        daemon = self.serve(", client_ca: clients.pem")
        self.assertEqual(self.ask(daemon, self.known), OK)
        for pair in (None, self.untrusted):
            with self.assertRaises(grpc.RpcError) as caught:
                self.ask(daemon, pair)
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAVAILABLE)


if __name__ == "__main__":
    unittest.main()
