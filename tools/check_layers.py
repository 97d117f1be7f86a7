#!/usr/bin/env python3
"""Checks includes between layers. Usage: check_layers.py [ROOT]

Folders are layers. A layer may include itself, the layers reachable by its arrows (programs: direct arrows only)
and the public headers of VOCABULARY. Each third-party library may be used by a fixed set of layers.
"""

import re
import sys
from pathlib import Path

from source_tree import ROOT, code_only, cpp_files, is_test, report

# Public headers with plain values, for every layer. The other public headers are the facade.
VOCABULARY = {
    f"penstock/{name}.hpp"
    for name in (
        "check clock counters decimal decision limits memory_options quota redis_options result shared_counters time version".split()
    )
}
FACADE_USERS = {"api", "apps/command_line", "apps/penstock", "bench", "bench/micro", "bench/program", "examples", "tests"}

# Headers of a layer that are plain values without includes of their own: (layer, header).
PLAIN_HEADERS = {("rules", "net/address.hpp")}  # addresses and TLS files in the settings

# The only public header that may include Asio; penstock.hpp does not include it.
ASIO_HEADER = "include/penstock/async.hpp"

PROGRAMS = {"apps/penstock", "bench/program"}

# The allowed includes; everything else is an error.
ARROWS = {
    "public": [],
    "base": [],
    "core": ["base"],
    "store": ["core"],
    "lease": ["store"],
    "api": ["store", "redis_store"],
    "resp": ["base"],
    "redis": ["resp"],
    "redis_store": ["store", "redis"],
    "rules": ["core"],
    "telemetry": ["base"],
    "service": ["rules", "store", "telemetry"],
    # Decides requests without listeners: no net, http, wire, gateway.
    "engine": ["service", "lease", "redis_store"],
    "net": ["base"],
    "http2": ["base"],
    "http": ["rules"],  # for the settings of paths and the addresses of trusted proxies
    "answer": ["http", "service"],
    "wire/http": ["answer", "telemetry", "net"],
    "wire/grpc": ["answer", "telemetry", "net", "http2"],
    "wire/resp": ["service", "telemetry", "net", "resp"],
    "gateway": ["answer", "telemetry", "net", "http2"],
    # Logs through the rules in virtual time: no sockets, no files.
    "replay": ["http", "service"],
    "bench": [],
    "audit": ["redis_store"],
    "daemon": ["wire/http", "wire/grpc", "wire/resp", "gateway", "engine", "audit"],
    "bench/micro": ["service", "store", "wire/http", "bench"],  # measures the parts one by one
    "apps/command_line": ["core", "rules"],  # shared by the programs
    "apps/penstock": ["apps/command_line", "audit", "core", "daemon", "http", "lease", "redis_store", "replay", "rules", "service", "store"],  # lease, service, store: pictures
    "bench/program": ["apps/command_line", "audit", "bench", "core", "lease", "redis_store"],
    "examples": [],
}

# The layers that may include third-party and system headers. A header with a slash or a dot in its
# name must be listed.
HOMES = {
    "CLI/": {"apps/command_line", "apps/penstock", "bench/program"},
    "nlohmann/": {"apps/penstock", "bench", "bench/program", "http", "answer", "wire/http", "telemetry", "tests"},  # telemetry: log lines
    "boost/asio": {
        "audit",
        "daemon",
        "engine",
        "redis",
        "redis_store",
        "api",
        "service",
        "net",
        "wire/http",
        "wire/grpc",
        "wire/resp",
        "gateway",
        "apps/penstock",
        "bench",
        "bench/program",
        "examples",
        "bench/micro",
    },
    "boost/beast": {"http", "wire/http", "gateway", "apps/penstock"},
    "boost/container/": {"rules", "service"},  # lists of a request without heap allocation
    "boost/intrusive/": {"net"},  # connections in the order of their deadlines
    "boost/system/": {"net", "http", "wire/http", "wire/grpc", "wire/resp", "gateway", "daemon", "apps/penstock"},  # the error codes of Asio and Beast
    # TLS, names of scripts, hashes of long keys, redacted subjects
    "openssl/": {"redis", "redis_store", "net", "http", "replay", "wire/http"},
    "re2/": {"rules"},
    "prometheus/": {"telemetry"},
    "hiredis/": {"resp", "bench", "tests"},  # bench: a baseline that calls Redis directly; tests: a client of our own server
    "yaml-cpp/": {"rules"},
    "spdlog/": {"telemetry"},
    "nghttp2/": {"http2", "bench", "tests"},
    "google/protobuf/": {"wire/grpc", "tests"},
    "envoy/": {"wire/grpc", "bench", "tests"},  # generated from proto/
    "grpc/": {"wire/grpc", "tests"},  # the same
    "zlib.h": {"replay", "wire/grpc", "tests"},  # compressed logs, compressed messages of clients
    "grpcpp/": {"bench", "tests"},  # a baseline for the gRPC listener, an independent client
    "arpa/inet.h": {"base"},  # reads addresses
    "cpuid.h": {"base"},  # whether the processor counter is a reliable clock
    "x86intrin.h": {"base"},  # to read that counter
    "immintrin.h": {"store"},  # the AES instructions of its hash
    "sys/mman.h": {"store"},  # huge pages
    "malloc.h": {"daemon"},  # returns large buffers to the system
    # isatty, page size
    "unistd.h": {"apps/command_line", "apps/penstock", "daemon", "bench", "bench/program", "telemetry", "tests"},
    # `penstock-bench verify` sends load from several processes.
    "spawn.h": {"bench/program"},
    "sys/stat.h": {"daemon"},  # detects changed configuration files
    # The full screen of `penstock top`.
    "sys/ioctl.h": {"apps/penstock"},
    "sys/signalfd.h": {"apps/penstock"},
    "termios.h": {"apps/penstock"},
    # Processes, sockets and a proxy of the tests, independent of the libraries under test.
    "fcntl.h": {"apps/penstock", "bench/program", "tests"},
    "netinet/": {"tests"},
    "poll.h": {"apps/penstock", "tests"},
    "sys/eventfd.h": {"tests"},
    "sys/prctl.h": {"tests"},
    "sys/socket.h": {"net", "tests"},  # SO_REUSEPORT, which Asio does not name
    "sys/types.h": {"bench/program", "tests"},
    "sys/un.h": {"tests"},
    "sys/wait.h": {"bench/program", "tests"},
    "benchmark/": {"bench/micro"},
}
TEST_LIBRARIES = (
    "gtest/",
    "rapidcheck.h",
    "rapidcheck/",
    "boost/multiprecision/",
    "boost/asio/",
    # to start and stop servers
    "fcntl.h",
    "spawn.h",
    "sys/wait.h",
    "unistd.h",
)

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


def layer_of(path):
    parts = path.split("/")
    if parts[0] == "include":
        return "public"
    if parts[0] == "apps" or parts[:2] in (["bench", "micro"], ["bench", "program"]):
        return "/".join(parts[:2])
    if parts[0] != "src":
        return parts[0]
    return "/".join(parts[1:3]) if parts[1] == "wire" else parts[1]


def reachable(layer):
    """The layers that a layer may include, itself included."""
    if layer in PROGRAMS:
        return {layer, *ARROWS[layer]}  # not the layers behind the daemon
    seen = set()
    ahead = [layer]
    while ahead:
        current = ahead.pop()
        if current not in seen:
            seen.add(current)
            ahead.extend(ARROWS[current])
    return seen


def target_layer(header):
    parts = header.split("/")
    if parts[0] in ("apps", "wire") or parts[:2] == ["bench", "program"]:
        return "/".join(parts[:2])
    return parts[0]


def project_include_error(root, path, header, siblings):
    layer = layer_of(path)
    if header.startswith("penstock/"):
        if header in VOCABULARY or layer in FACADE_USERS or is_test(path):
            return None
        if layer == "public" and path == "include/penstock/penstock.hpp":
            return None
        return f"{layer} may not include {header}: it is the facade for users"
    if layer == "public":
        return f"a public header may not include {header}: it is not installed"
    if layer == "tests" or header in siblings or (layer, header) in PLAIN_HEADERS:
        return None
    if is_test(path) and (Path(root) / "tests" / header).exists():
        return None
    wanted = target_layer(header)
    if wanted not in ARROWS:
        return f"{header} belongs to no known layer"
    if wanted not in reachable(layer):
        return f"{layer} may not include {header}: no arrow leads from {layer} to {wanted}"
    return None


def system_include_error(root, path, header):
    if "/" not in header and "." not in header:
        return None  # the standard library
    layer = layer_of(path)
    if header.startswith("penstock/"):
        return project_include_error(root, path, header, set())
    if layer == "public" and not (path == ASIO_HEADER and header.startswith("boost/asio/")):
        return f"a public header may not include <{header}>: standard library only"
    if layer == "public":
        return None
    if is_test(path) and header.startswith(TEST_LIBRARIES):
        return None
    for prefix, homes in HOMES.items():
        if header.startswith(prefix):
            if layer in homes:
                return None
            return f"<{header}> lives in {', '.join(sorted(homes))}, not in {layer}"
    return f"<{header}> has no home; give it one in tools/check_layers.py, with the reason"


def check(root=ROOT):
    problems = []
    for path in cpp_files(root):
        layer = layer_of(path)
        if layer != "tests" and layer not in ARROWS:
            problems.append(f"{path}: folder {layer} is in no layer; see tools/check_layers.py")
            continue
        text = (Path(root) / path).read_text(encoding="utf-8")
        folder = (Path(root) / path).parent
        siblings = {entry.name for entry in folder.iterdir()}
        code_lines = code_only(text).split("\n")
        for match in _INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            if "include" not in code_lines[line - 1]:
                continue  # in a comment
            quoted, angled = match.groups()
            if quoted is not None:
                error = project_include_error(root, path, quoted, siblings)
            else:
                error = system_include_error(root, path, angled)
            if error is not None:
                problems.append(f"{path}:{line}: {error}")
    return problems


if __name__ == "__main__":
    sys.exit(report(check(*sys.argv[1:])))
