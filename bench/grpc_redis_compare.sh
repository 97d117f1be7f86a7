#!/usr/bin/env bash
# grpc_redis_compare.sh [BUILD_DIRECTORY]: calls of Envoy's rate limit service, shared in Redis, uniform
# keys: the daemon with one worker, exact, beside grpc++ with a pool of connections that calls Redis for
# every request (INCRBY and EXPIRE per descriptor), alternating in one run, each with its own Redis.
# Prints CPU time per call of server and of Redis, and calls per second of both. Needs redis-server,
# grpc_cpp_plugin, libgrpc++-dev and libhiredis-dev; the baseline is built here. The load comes from
# `penstock-bench grpc`, because h2load always sends the same key.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
program=$build/penstock
seconds=${SECONDS_EACH:-4}
rounds=${ROUNDS:-3}
connections=${CONNECTIONS:-4}
streams=${STREAMS:-32}
keys=${KEYS:-100000}
pool=${POOL:-10} # connections of the baseline to Redis

cmake -G Ninja -S bench/grpc_baseline -B "$build/grpc_baseline" >/dev/null
ninja -C "$build/grpc_baseline" >/dev/null

source bench/processes.sh

start_redis() { # PORT
  redis-server --port "$1" --bind 127.0.0.1 --save "" --dir "$folder" >/dev/null &
  started+=("$!")
  wait_for_port "$1"
}

daemon_redis_port=$(free_port)
start_redis "$daemon_redis_port"
daemon_redis=${started[-1]}
baseline_redis_port=$(free_port)
start_redis "$baseline_redis_port"
baseline_redis=${started[-1]}

daemon_port=$(free_port)
cat >"$folder/penstock.yaml" <<YAML
server: {workers: 1, listen: "127.0.0.1:$(free_port)", admin: off}
grpc: {listen: "127.0.0.1:$daemon_port", headers: false}
store: {url: "redis://127.0.0.1:$daemon_redis_port", timeout: 1s}
domains:
  bench: {rules: []}
YAML
"$program" serve --config "$folder/penstock.yaml" --shutdown-delay 0s >"$folder/log" 2>&1 &
started+=("$!")
daemon=${started[-1]}
baseline_port=$(free_port)
"$build/grpc_baseline/grpc_redis_baseline" "127.0.0.1:$baseline_port" 127.0.0.1 \
  "$baseline_redis_port" "$pool" &
started+=("$!")
baseline=${started[-1]}
wait_for_port "$daemon_port"
wait_for_port "$baseline_port"

# User and system time of a process so far, in ticks of the clock.
ticks_of() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

measure() { # NAME SERVER_PID REDIS_PID PORT [BENCH ARGUMENTS]
  local name=$1 server=$2 redis=$3 port=$4 before after
  shift 4
  before="$(ticks_of "$server") $(ticks_of "$redis")"
  "$program" bench grpc "127.0.0.1:$port" --domain bench --keys "$keys" --connections "$connections" \
    --streams "$streams" --time "${seconds}s" --json "$@" >"$folder/report"
  after="$(ticks_of "$server") $(ticks_of "$redis")"
  python3 bench/grpc_redis_report.py "$name" "$folder/report" "$folder/ratios" $before $after
}

sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sort | uniq -c
compare() { # TITLE [BENCH ARGUMENTS]
  echo "$1"
  shift
  for _ in $(seq "$rounds"); do
    measure penstock "$daemon" "$daemon_redis" "$daemon_port" "$@"
    measure "a call per request" "$baseline" "$baseline_redis" "$baseline_port" "$@"
  done
}
compare "one descriptor" --limit 1000000000/h --descriptor 'user={key}'
compare "two descriptors" --limit 1000000000/h --descriptor 'user={key}' \
  --descriptor 'tenant=a-customer,user={key}'
keys=1000
compare "one descriptor, 1000 keys of 10 per hour: over-admission" --limit 10/h \
  --descriptor 'user={key}'
