#!/usr/bin/env bash
# modes_compare.sh [BUILD_DIRECTORY]: the savings of leases and of the denial cache, on its own
# redis-server: one hot key, Zipf keys, cold keys beside a hot one, denied clients that retry, all in
# process; then the gRPC listener with leases beside the same listener on the memory store. The two
# sides of a comparison alternate. Needs redis-server.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
rounds=${ROUNDS:-3}
seconds=${SECONDS_EACH:-5}

source bench/processes.sh

redis_port=$(free_port)
redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --dir "$folder" >/dev/null &
started+=("$!")
wait_for_port "$redis_port"
store="redis://127.0.0.1:$redis_port"

modes() { # NAME OPTIONS...: one line of what `penstock bench modes` found
  local name=$1
  shift
  "$build/penstock" bench modes --store "$store" --time "${seconds}s" --json "$@" |
    python3 -c '
import json, sys
f = json.load(sys.stdin)
keys = f["keys"] + (f["hot_percent"] > 0)
per_key = f["redis_calls_per_second"] / keys
print("%-34s %9.0f checks/s  %7.1f calls/s (%.5f per check, %.3f per key and second)  client %.2f us, redis %.3f us  "
      "p99 %.0f us  admitted %d of at most %d  over_admitted %d" % (
      sys.argv[1], f["checks_per_second"], f["redis_calls_per_second"], f["redis_calls_per_check"], per_key,
      f["client_cpu_ns_per_check"] / 1000, f["redis_cpu_us_per_check"], f["p99_us"], f["admitted"],
      f["max_per_key"] * keys, f["over_admitted"]))' "$name"
}

sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sort | uniq -c
for _ in $(seq "$rounds"); do
  modes "one key, exact" --mode exact --limit 1000000/s
  modes "one key, lease_strict" --mode lease_strict --limit 1000000/s
  modes "one key, lease" --mode lease --limit 1000000/s
done
for _ in $(seq "$rounds"); do
  modes "zipf 0.99 of 1M keys, exact" --mode exact --keys 1000000 --distribution zipf:0.99 --limit 1000/s
  modes "zipf 0.99 of 1M keys, adaptive" --mode adaptive --keys 1000000 --distribution zipf:0.99 --limit 1000/s
done
for _ in $(seq "$rounds"); do
  modes "cold keys alone" --mode adaptive --keys 100000 --outstanding 32 --limit 1000000/s
  modes "cold keys, half for a hot one" --mode adaptive --keys 100000 --outstanding 32 --limit 1000000/s --hot 50
done
modes "100 denied keys, 10/h" --mode exact --keys 100 --limit 10/h

start_daemon() { # PORT STORE
  cat >"$folder/$1.yaml" <<YAML
server: {workers: 1, listen: "127.0.0.1:$(free_port)", admin: off}
grpc: {listen: "127.0.0.1:$1"}
nodes: 1
store: {url: "$2"}
domains:
  bench: {mode: lease_strict, rules: [{name: hot, key: [user], limit: 1000000/s}]}
YAML
  "$build/penstock" serve --config "$folder/$1.yaml" --shutdown-delay 0s >/dev/null 2>&1 &
  started+=("$!")
  wait_for_port "$1"
}
grpc() { # NAME PID PORT
  "$build/penstock" bench grpc "127.0.0.1:$3" --domain bench --descriptor user=hot --limit rules --keys 1 \
    --time "${seconds}s" --server-pid "$2" --json >"$folder/grpc.json"
  python3 -c '
import json, sys
f = json.load(open(sys.argv[2]))
cpu = f["server_cpu_us_per_request"]
print("%-34s %9.0f calls/s  %.2f us CPU of the daemon per call: %.0f calls per CPU-second" % (
      sys.argv[1], f["requests_per_second"], cpu, 1e6 / cpu))' "$1" "$folder/grpc.json"
}
memory_port=$(free_port)
start_daemon "$memory_port" "memory://"
memory=${started[-1]}
lease_port=$(free_port)
start_daemon "$lease_port" "$store"
lease=${started[-1]}
sleep 1
for _ in $(seq "$rounds"); do
  grpc "gRPC, memory store" "$memory" "$memory_port"
  grpc "gRPC, lease_strict on Redis" "$lease" "$lease_port"
done
