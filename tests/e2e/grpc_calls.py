"""A client of the gRPC listener: messages compiled from proto/ by protoc, and calls by Debian's python3-grpcio. Tests
are skipped when a dependency is missing."""

import re
import subprocess
import unittest

from daemon import SOURCE_DIR, eventually
from server_process import require

try:
    import grpc
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError:
    grpc = None

PROTO = SOURCE_DIR / "proto"
RATE_LIMIT = "envoy.service.ratelimit.v3.RateLimitService"
HEALTH = "grpc.health.v1.Health"
REFLECTIONS = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
OK, OVER_LIMIT = 1, 2
SERVING, NOT_SERVING, SERVICE_UNKNOWN = 1, 2, 3
TIMEOUT = 10  # seconds


def descriptor_set():
    """A serialised FileDescriptorSet of everything below proto/."""
    require("protoc")
    files = [path.relative_to(PROTO).as_posix() for path in sorted(PROTO.rglob("*.proto"))]
    result = subprocess.run(
        ["protoc", "--proto_path=.", "--include_imports", "--descriptor_set_out=/dev/stdout", *files],
        cwd=PROTO, capture_output=True, timeout=60, check=False,
    )
    if result.returncode != 0:
        raise RuntimeError(result.stderr.decode())
    return result.stdout


class Messages:
    """Message classes by full name."""

    def __init__(self):
        if grpc is None:
            raise unittest.SkipTest("python3-grpcio or python3-protobuf is not installed")
        self._pool = descriptor_pool.DescriptorPool()
        for file in descriptor_pb2.FileDescriptorSet.FromString(descriptor_set()).file:
            self._pool.Add(file)
        self._factory = message_factory.MessageFactory(self._pool)

    def of(self, name):
        return self._factory.GetPrototype(self._pool.FindMessageTypeByName(name))

    def method(self, service, name):
        """The request and response classes."""
        found = self._pool.FindServiceByName(service).FindMethodByName(name)
        return (self._factory.GetPrototype(found.input_type), self._factory.GetPrototype(found.output_type))

    def question(self, domain, *descriptors, hits=0):
        """Descriptors are dictionaries, or pairs of a dictionary and options."""
        asked = self.of("envoy.service.ratelimit.v3.RateLimitRequest")(domain=domain, hits_addend=hits)
        for descriptor in descriptors:
            entries, more = descriptor if isinstance(descriptor, tuple) else (descriptor, {})
            added = asked.descriptors.add()
            for key, value in entries.items():
                added.entries.add(key=key, value=value)
            if "hits" in more:
                added.hits_addend.value = more["hits"]
            if "limit" in more:
                added.limit.requests_per_unit, added.limit.unit = more["limit"]
            added.is_negative_hits = more.get("refund", False)
        return asked


def grpc_port(daemon):
    """Port of this daemon's gRPC listener."""
    found = []

    def said():
        found[:] = re.findall(r"listening on (?:grpcs?)://[^ ]*:(\d+)", daemon.output)
        return found

    if not eventually(said):
        raise AssertionError("the daemon does not say where its gRPC listener is:\n" + daemon.output)
    return int(found[0])


class Client:
    """One connection."""

    def __init__(self, messages, port, credentials=None, options=()):
        self.messages = messages
        target = f"localhost:{port}" if credentials else f"127.0.0.1:{port}"
        # Channels to one address share a connection by default.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0), *options]
        self.channel = (grpc.secure_channel(target, credentials, options) if credentials
                        else grpc.insecure_channel(target, options))

    def call(self, service, method, kind="unary_unary"):
        """A callable for this method, with messages."""
        takes, gives = self.messages.method(service, method)
        return getattr(self.channel, kind)(
            f"/{service}/{method}", request_serializer=takes.SerializeToString,
            response_deserializer=gives.FromString,
        )

    def raw(self, path, body=b"", **options):
        """A call with raw bytes."""
        options.setdefault("timeout", TIMEOUT)
        return self.channel.unary_unary(path)(body, **options)

    def ask(self, domain, *descriptors, hits=0, **options):
        options.setdefault("timeout", TIMEOUT)
        question = self.messages.question(domain, *descriptors, hits=hits)
        return self.call(RATE_LIMIT, "ShouldRateLimit")(question, **options)

    def start(self, domain, *descriptors, hits=0, **options):
        """Like ask(), without waiting."""
        options.setdefault("timeout", TIMEOUT)
        question = self.messages.question(domain, *descriptors, hits=hits)
        return self.call(RATE_LIMIT, "ShouldRateLimit").future(question, **options)

    def health(self, service=""):
        asked = self.messages.of("grpc.health.v1.HealthCheckRequest")(service=service)
        return self.call(HEALTH, "Check")(asked, timeout=TIMEOUT).status

    def watch(self, service=""):
        asked = self.messages.of("grpc.health.v1.HealthCheckRequest")(service=service)
        return self.call(HEALTH, "Watch", "unary_stream")(asked, timeout=TIMEOUT)

    def close(self):
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
