#!/usr/bin/env bash
# grpc_compare.sh [BUILD_DIRECTORY]: the cost of a call of Envoy's rate limit service: CPU time per call
# of the daemon with one worker and the memory store, two descriptors, with and without header fields
# in the answer, beside grpc++ with a handler that does nothing, alternating in one run. Needs h2load,
# grpc_cpp_plugin and libgrpc++-dev; the baseline is built here, into BUILD_DIRECTORY/grpc_baseline.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
calls=${CALLS:-200000}
rounds=${ROUNDS:-3}
connections=${CONNECTIONS:-4}
streams=${STREAMS:-32}

cmake -G Ninja -S bench/grpc_baseline -B "$build/grpc_baseline" >/dev/null
ninja -C "$build/grpc_baseline" >/dev/null

source bench/processes.sh

start_daemon() { # PORT HEADERS
  cat >"$folder/$1.yaml" <<YAML
server: {workers: 1, listen: "127.0.0.1:$(free_port)", admin: off}
grpc: {listen: "127.0.0.1:$1", headers: $2}
domains:
  bench:
    rules:
      - {name: per-user, key: [user], limit: 1000000000/s}
      - {name: per-path, key: [path], limit: 1000000000/minute}
YAML
  "$build/penstock" serve --config "$folder/$1.yaml" --shutdown-delay 0s >/dev/null 2>&1 &
  started+=("$!")
  wait_for_port "$1"
}

headers_port=$(free_port)
start_daemon "$headers_port" true
headers_pid=${started[-1]}
plain_port=$(free_port)
start_daemon "$plain_port" false
plain=${started[-1]}
baseline_port=$(free_port)
"$build/grpc_baseline/grpc_baseline" "127.0.0.1:$baseline_port" &
started+=("$!")
baseline=${started[-1]}
wait_for_port "$baseline_port"

# {domain: "bench", descriptors: [{user: user-12345}, {path: /v1/search}]}
protoc -Iproto --encode=envoy.service.ratelimit.v3.RateLimitRequest \
  proto/envoy/service/ratelimit/v3/rls.proto >"$folder/message" <<'TEXT'
domain: "bench"
descriptors { entries { key: "user" value: "user-12345" } }
descriptors { entries { key: "path" value: "/v1/search" } }
TEXT
python3 -c 'import sys; body = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(b"\0" + len(body).to_bytes(4, "big") + body)' \
  "$folder/message" "$folder/request"

measure() { # NAME PID PORT
  local before after
  before=$(ticks "$2")
  h2load -c"$connections" -m"$streams" -n"$calls" -d "$folder/request" \
    -H 'content-type: application/grpc' -H 'te: trailers' \
    "http://127.0.0.1:$3/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit" >"$folder/h2load"
  after=$(ticks "$2")
  grep -q " $calls succeeded" "$folder/h2load" || { cat "$folder/h2load"; exit 1; }
  echo "$before $after" | awk -v name="$1" -v hertz="$hertz" -v calls="$calls" '{
    scale = 1e6 / hertz / calls
    printf "%-22s %6.2f us CPU per call, %5.2f of it in the program\n", name,
      ($3 + $4 - $1 - $2) * scale, ($3 - $1) * scale }'
}

sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sort | uniq -c
for _ in $(seq "$rounds"); do
  measure "penstock" "$headers_pid" "$headers_port"
  measure "penstock, no headers" "$plain" "$plain_port"
  measure "grpc++, empty handler" "$baseline" "$baseline_port"
done
