"""Hostile clients of the gRPC listener: memory, floods of frames, metadata, pings, refunds."""

import gzip
import time
import unittest

from abuse_connections_test import other_address
from daemon import Daemon, eventually
from grpc_calls import Client, Messages, grpc_port
from http2_client import (CONTINUATION, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, HEADERS, INTERNAL_ERROR,
                          MAX_FRAME, PING, PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE, Http2Client, call_fields,
                          frame, headers, literals, uint32)
from usage import cpu_seconds, resident_bytes

RULES = """
server: {workers: 1, body_timeout: 60s}
grpc: {listen: "HOST:0" MORE}
domains:
  api:
    rules:
      - {name: per-user, key: [user], limit: 10/day, algorithm: fixed_window}
"""
SHOULD_RATE_LIMIT = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
HEALTH = "/grpc.health.v1.Health/Check"
LONG_TIMEOUT = ("grpc-timeout", "60S")
MIB = 1 << 20


def serve(more="", host="127.0.0.1"):
    return Daemon(RULES.replace("HOST", host).replace(" MORE", more and ", " + more))


def message(size, filled):
    """A gRPC message that declares this size, with `filled` bytes of it."""
    return b"\0" + uint32(size) + b"x" * filled


class AbuseCase(unittest.TestCase):
    def assert_served(self, client, stream):
        """A call on this connection is answered."""
        self.assertTrue(client.open_call(stream, HEALTH))
        client.send_data(stream, b"\0\0\0\0\0", end=True)
        self.assertTrue(client.wait_for(lambda: stream in client.ended))
        self.assertTrue(client.body(stream), "an answer with a message")

    def assert_new_client_served(self, daemon):
        with Http2Client(grpc_port(daemon)) as other:
            self.assert_served(other, 1)


class MemoryTest(AbuseCase):
    def flood(self, daemon, streams, size):
        """Sends half messages on one connection. Returns the daemon's memory growth during and after it."""
        with Http2Client(grpc_port(daemon)) as client:
            self.assert_served(client, 1)
            before = resident_bytes(daemon.pid)
            half_sent = message(size, size - 1)
            calls = range(3, 3 + 2 * streams, 2)
            for stream in calls:
                client.open_call(stream, SHOULD_RATE_LIMIT, [LONG_TIMEOUT])
                client.send_data(stream, half_sent)
            grown = resident_bytes(daemon.pid) - before
            self.assert_served(client, calls.stop)  # after all rejections
            self.assertIsNone(client.goaway)
            held = sum(stream not in client.ended for stream in calls)
            self.assertGreater(held, 0)
            self.assertLessEqual(held * size, 10 * MIB)  # the buffer, and a quarter more for small calls
        self.assertTrue(eventually(lambda: daemon.metric('penstock_listener_connections{listener="grpc"}') == 0))
        left = resident_bytes(daemon.pid) - before
        print(f"\n{streams} messages of {size} bytes, half sent: {grown / MIB:.1f} MiB more, "
              f"{left / MIB:.1f} MiB after they ended; {held} were held")
        return grown, left

    def test_half_sent_messages_of_a_connection_take_no_more_than_its_buffer(self):
        with serve("max_message_bytes: 1_048_576") as daemon:
            grown, left = self.flood(daemon, 100, MIB)
            self.assertLess(grown, 32 * MIB)  # 100 MiB without a limit; the buffer is 8 MiB
            self.assertLess(left, 32 * MIB)
            self.assert_new_client_served(daemon)

    def test_half_sent_messages_of_the_default_size_stay_within_the_buffer(self):
        with serve() as daemon:
            grown, _ = self.flood(daemon, 400, 65536)
            self.assertLess(grown, 24 * MIB)

    def test_a_large_message_is_rejected_by_its_declared_size(self):
        with serve() as daemon, Http2Client(grpc_port(daemon)) as client:
            client.open_call(1, SHOULD_RATE_LIMIT)
            client.send_data(1, message(MIB, 10))
            self.assertTrue(client.wait_for(lambda: 1 in client.ended))
            self.assert_served(client, 3)

    def test_compressed_messages_inflate_within_the_limit(self):
        bomb = gzip.compress(b"x" * (64 * MIB))
        body = b"\1" + uint32(len(bomb)) + bomb
        with serve("max_message_bytes: 1_048_576") as daemon, Http2Client(grpc_port(daemon)) as client:
            before, started = resident_bytes(daemon.pid), cpu_seconds(daemon.pid)
            for stream in range(1, 201, 2):
                client.open_call(stream, SHOULD_RATE_LIMIT, [("grpc-encoding", "gzip")])
                client.send_data(stream, body, end=True)
            self.assertTrue(client.wait_for(lambda: len(client.ended) == 100))
            grown, took = resident_bytes(daemon.pid) - before, cpu_seconds(daemon.pid) - started
            print(f"\n100 gzip bombs: {grown / MIB:.1f} MiB more, {took:.2f} s of CPU")
            self.assertLess(grown, 32 * MIB)
            self.assertLess(took, 5)
            self.assert_served(client, 301)


class FloodTest(AbuseCase):
    def test_floods_of_frames_end_the_connection_early(self):
        complete = headers(1, call_fields(HEALTH), END_HEADERS | END_STREAM)
        floods = {
            "SETTINGS": frame(SETTINGS),
            "PING": frame(PING, payload=b"12345678"),
            "PRIORITY": frame(PRIORITY, stream=3, payload=b"\0\0\0\0\1"),
            "WINDOW_UPDATE": frame(WINDOW_UPDATE, payload=uint32(1)),
            "unknown": frame(0xBB),
            "empty DATA of a closed stream": frame(DATA, stream=1),
        }
        with serve() as daemon:
            for name, flood in floods.items():
                with self.subTest(name), Http2Client(grpc_port(daemon)) as client:
                    client.send(complete)
                    self.assertTrue(client.wait_for(lambda: 1 in client.ended))
                    self.flooded(daemon, client, (flood * 100 for _ in range(2000)), name)

    def test_rapid_resets_end_the_connection_early(self):
        def resets():
            for number in range(100_000):
                stream = 1 + 2 * number
                yield (headers(stream, call_fields(SHOULD_RATE_LIMIT))
                       + frame(RST_STREAM, stream=stream, payload=uint32(8)))

        with serve() as daemon, Http2Client(grpc_port(daemon)) as client:
            # The library counts these itself and reports an internal error.
            self.flooded(daemon, client, resets(), "RST_STREAM", errors=(INTERNAL_ERROR, ENHANCE_YOUR_CALM))

    def test_header_blocks_without_end_are_bounded(self):
        with serve() as daemon, Http2Client(grpc_port(daemon)) as client:
            client.send(headers(1, call_fields("/x"), flags=0))
            self.flooded(daemon, client, (frame(CONTINUATION, 0, 1) * 10 for _ in range(20_000)), "CONTINUATION",
                         errors=(INTERNAL_ERROR, ENHANCE_YOUR_CALM))

    def flooded(self, daemon, client, pieces, name, errors=(ENHANCE_YOUR_CALM,)):
        started = cpu_seconds(daemon.pid)
        for piece in pieces:
            if not client.send(piece):
                break
            client.read()
        self.assertTrue(client.wait_closed(20), f"{name}: the connection goes on")
        took = cpu_seconds(daemon.pid) - started
        print(f"\n{name}: {took:.2f} s of CPU, {client.goaway}")
        self.assertLess(took, 2)
        if client.goaway:  # a connection reset may overtake it
            self.assertIn(client.goaway[0], errors)
        self.assert_new_client_served(daemon)


class PingTest(AbuseCase):
    def test_pings_without_calls_are_answered_with_too_many_pings(self):
        with serve() as daemon, Http2Client(grpc_port(daemon)) as client:
            for _ in range(20):
                if not client.send(frame(PING, payload=b"12345678")) or client.wait_closed(0.3):
                    break
            self.assertTrue(client.wait_closed(20))
            self.assertEqual(client.goaway, (ENHANCE_YOUR_CALM, b"too_many_pings"))

    def test_pings_at_the_interval_of_the_setting_are_answered(self):
        with serve("min_ping_interval: 100ms") as daemon, Http2Client(grpc_port(daemon)) as client:
            for pings in range(1, 9):
                client.send(frame(PING, payload=b"12345678"))
                self.assertTrue(client.wait_for(
                    lambda wanted=pings: sum(kind == PING for kind, *_ in client.frames) == wanted))
                time.sleep(0.3)
            self.assertIsNone(client.goaway)


class MetadataTest(AbuseCase):
    def call(self, client, stream, fields):
        block = literals(call_fields(HEALTH, fields))
        pieces = [block[at:at + MAX_FRAME] for at in range(0, len(block), MAX_FRAME)]
        for number, piece in enumerate(pieces):
            kind = CONTINUATION if number else HEADERS
            client.send(frame(kind, END_HEADERS if number + 1 == len(pieces) else 0, stream, piece))
        self.assertTrue(client.wait_for(lambda: stream in client.ended))

    def test_too_much_metadata_fails_the_call_and_not_the_connection(self):
        with serve() as daemon, Http2Client(grpc_port(daemon)) as client:
            self.call(client, 1, [("x", "x" * 20_000)])
            self.call(client, 3, [(f"x{i}", "x" * 10_000) for i in range(10)])
            self.assertIsNone(client.goaway)
            self.assert_served(client, 5)

    def test_the_status_is_resource_exhausted(self):
        import grpc  # Messages() skips without it
        messages = Messages()
        with serve() as daemon, Client(messages, grpc_port(daemon),
                                       options=[("grpc.max_metadata_size", 1 << 20)]) as client:
            with self.assertRaises(grpc.RpcError) as caught:
                client.ask("api", {"user": "a"}, metadata=[("x", "x" * 20_000)])
            self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
            self.assertEqual(client.ask("api", {"user": "a"}).overall_code, 1)


class RefundTest(unittest.TestCase):
    def left_after_refund(self, messages, host, port):
        """Remaining units of ten after a charge of five and a refund of five."""
        with Client(messages, port) as client:
            client.channel.close()
            import grpc
            client.channel = grpc.insecure_channel(f"{host}:{port}", [("grpc.enable_http_proxy", 0)])
            client.ask("api", ({"user": host}, {"hits": 5}))
            answer = client.ask("api", ({"user": host}, {"hits": 5, "refund": True}))
            self.assertEqual(answer.overall_code, 1)
            return answer.statuses[0].limit_remaining

    def test_remote_clients_cannot_refund_unless_allowed(self):
        address, messages = other_address(), Messages()
        for setting, here, elsewhere in (("", 10, 5), ("refunds: allow", 10, 10), ("refunds: deny", 5, 5)):
            with self.subTest(setting), serve(setting, host="0.0.0.0") as daemon:
                port = grpc_port(daemon)
                self.assertEqual(self.left_after_refund(messages, "127.0.0.1", port), here)
                self.assertEqual(self.left_after_refund(messages, address, port), elsewhere)
                ignored = (here, elsewhere).count(5)
                self.assertTrue(eventually(
                    lambda n=ignored: daemon.metric("penstock_listener_refunds_ignored_total") == n))
                logged = "refunds (is_negative_hits) are ignored"  # once per worker
                self.assertTrue(eventually(lambda: (logged in daemon.output) == (ignored > 0)))
                self.assertLessEqual(daemon.output.count(logged), ignored)


if __name__ == "__main__":
    unittest.main()
