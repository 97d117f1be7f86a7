#!/usr/bin/env bash
# outage.sh [BUILD_DIRECTORY]: two daemons under load while their Redis hangs for ten seconds, a rule
# with `on_failure: local`: latency and admissions during the outage, compared with
# (rate x time + burst) x the sum of the shares. Needs redis-server.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
outage=${OUTAGE:-10}
requests=${RATE:-4000}
limit=200
burst=400

source bench/processes.sh

redis_port=$(free_port)
redis-server --port "$redis_port" --bind 127.0.0.1 --save '' --dir "$folder" >/dev/null &
redis=$!
started+=("$redis")
wait_for_port "$redis_port"

servers=()
for _ in 1 2; do
  port=$(free_port)
  cat >"$folder/$port.yaml" <<YAML
server: {workers: 1, listen: "127.0.0.1:$port", admin: off, forward_auth: {domain: api}}
nodes: 2
store: {url: "redis://127.0.0.1:$redis_port", timeout: 10ms}
domains:
  api: {on_failure: local, rules: [{name: all, limit: $limit/s burst $burst}]}
YAML
  "$build/penstock" serve --config "$folder/$port.yaml" --shutdown-delay 0s >/dev/null 2>&1 &
  started+=("$!")
  wait_for_port "$port"
  servers+=("127.0.0.1:$port")
done

# Enough connections that requests rarely queue.
load() { # NAME SECONDS
  local begin end
  begin=$(date +%s.%N)
  "$build/penstock" bench http "${servers[@]}" --endpoint forward-auth --rate "$requests" --time "$2s" \
    --connections 200 --json >"$folder/load.json"
  end=$(date +%s.%N)
  python3 -c '
import json, sys
name, path, begin, end, limit, burst = sys.argv[1:]
f = json.load(open(path))
took = float(end) - float(begin)
bound = int(limit) * took + int(burst)
print("%-14s %5.1f s  %d answered  p50 %.0f us  p99 %.0f us  p99.9 %.0f us  slowest %.0f us  admitted %d of at most %.0f  "
      "failed %d" % (name, took, f["answered"], f["p50_us"], f["p99_us"], f["p999_us"], f["max_us"], f["allowed"], bound,
      f["failed"]))' "$1" "$folder/load.json" "$begin" "$end" "$limit" "$burst"
}

# Two shares of one half: the bound of the outage is that of the limit.
load "before" 3
kill -STOP "$redis"
load "Redis hangs" "$outage"
kill -CONT "$redis"
sleep 2.5
load "afterwards" 3
