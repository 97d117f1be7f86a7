#!/usr/bin/env bash
# listeners_load.sh [BUILD]: the cost of a decision at the gRPC and the Redis-protocol listener of a daemon
# with one worker and the memory store. The load generator runs on the other core.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-build/release}/penstock
seconds=${SECONDS_EACH:-5}
rounds=${ROUNDS:-3}
folder=$(mktemp -d)
daemon=
trap '[ -z "$daemon" ] || kill "$daemon" 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT

cat >"$folder/penstock.yaml" <<'YAML'
server: {workers: 1, listen: 127.0.0.1:0}
grpc: {listen: 127.0.0.1:0}
resp: {listen: 127.0.0.1:0}
YAML
cat >"$folder/edge.yaml" <<'YAML'
domain: edge
descriptors:
  - key: destination
    value: search
    rate_limit: {unit: second, requests_per_unit: 1000000000}
  - key: tenant
    descriptors:
      - key: remote_address
        rate_limit: {unit: second, requests_per_unit: 1000000000}
YAML

"$program" serve --config "$folder" --shutdown-delay 0s --admin 127.0.0.1:0 >"$folder/log" 2>&1 &
daemon=$!
until grep -q 'admin on' "$folder/log" || ! kill -0 "$daemon" 2>/dev/null; do sleep 0.1; done
kill -0 "$daemon" || { cat "$folder/log"; exit 1; }
port() { sed -n "s|.*listening on $1://[^ ]*:\([0-9]*\).*|\1|p" "$folder/log"; }

measure() {
  local title=$1 listener=$2 scheme=$3
  shift 3
  for _ in $(seq "$rounds"); do
    "$program" bench "$listener" "127.0.0.1:$(port "$scheme")" --time "${seconds}s" \
      --server-pid "$daemon" --json "$@" | python3 -c '
import json, sys
report = json.load(sys.stdin)
over = report.get("over_admitted", "-")
print("%-34s %6.2f us CPU  %9.0f/s  p50 %7.0f us  p99 %7.0f us  failed %d  over-admitted %s" % (
    sys.argv[1], report["server_cpu_us_per_request"], report["requests_per_second"],
    report["p50_us"], report["p99_us"], report["failed"], over))' "$title"
  done
}

measure 'gRPC, two descriptors, rules' grpc grpc --domain edge --limit rules --keys 2000 \
  --descriptor destination=search --descriptor 'tenant=a-customer,remote_address={key}'
measure 'gRPC, a limit that travels' grpc grpc --domain edge --keys 2000
measure 'RESP, CL.THROTTLE, 64 at once' resp redis --keys 2000 --pipeline 64
measure 'RESP, CL.THROTTLE, one at a time' resp redis --keys 2000 --connections 64 --pipeline 1
