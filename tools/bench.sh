#!/usr/bin/env bash
# bench.sh [PROGRAM] [redis]: the figures of docs/explanation/performance.md, each beside the naive baseline of
# the same run; with `redis` those of the shared store only. Prints the machine first.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${1:-build/release/penstock}
part=${2:-all}
redis_checks=${REDIS_CHECKS:-1000000}  # fewer for a quick run
threads=$(nproc)
if [ "$threads" -gt 2 ]; then threads=2; fi

measure() {
  local title=$1
  shift
  printf '\n## %s\n\n' "$title"
  # a refill so slow that no key expires during a run
  "$program" bench store --store memory:// --algorithm token_bucket --limit 1000/d \
    --baseline naive "$@"
}

"$program" --version
sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | sort | uniq -c || true

if [ "$part" = all ]; then
  measure '2 000 keys' --keys 2000 --distribution uniform --checks 20000000 --threads 1 --batch 1
  measure '10 000 000 keys, one by one' \
    --keys 10000000 --distribution uniform --checks 20000000 --threads 1 --batch 1
  measure '10 000 000 keys, batches of 64' \
    --keys 10000000 --distribution uniform --checks 20000000 --threads 1 --batch 64
  measure '10 000 000 keys, Zipf 0.99' \
    --keys 10000000 --distribution zipf:0.99 --checks 20000000 --threads 1 --batch 1
  measure "One key, $threads threads" \
    --keys 1 --distribution one --checks 10000000 --threads "$threads" --batch 1
fi

# On its own Redis, over TCP on loopback.
measure_redis() {
  local title=$1
  shift
  printf '\n## Redis: %s\n\n' "$title"
  "$program" bench store --store "redis://127.0.0.1:$port" --limit 1000/d --timeout 10s "$@"
}

if command -v redis-server >/dev/null; then
  folder=$(mktemp -d)
  port=$(python3 -c 'import socket
with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    print(probe.getsockname()[1])')
  redis-server --port "$port" --bind 127.0.0.1 --dir "$folder" --save '' >/dev/null &
  redis=$!
  trap 'kill "$redis" 2>/dev/null; wait "$redis" 2>/dev/null; rm -rf "$folder"' EXIT
  until (: >"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ! kill -0 "$redis" 2>/dev/null; do
    sleep 0.1
  done
  measure_redis '100 000 keys, batches of 256' \
    --keys 100000 --checks "$redis_checks" --batch 256 --baseline naive
  measure_redis '100 000 keys, Zipf 0.99, batches of 256' \
    --keys 100000 --distribution zipf:0.99 --checks "$redis_checks" --batch 256 --baseline naive
  measure_redis '100 000 keys, Zipf 0.99, batches of 2 048' \
    --keys 100000 --distribution zipf:0.99 --checks "$redis_checks" --batch 2048 --baseline naive
  measure_redis 'one key, batches of 256' \
    --keys 1 --distribution one --checks "$redis_checks" --batch 256 --baseline naive
  measure_redis 'one by one, beside INCR' --keys 1000 --checks "$((redis_checks / 10))" --batch 1 --baseline incr
else
  printf '\n## Redis\n\nNot measured: redis-server is not installed.\n'
fi

if [ "$part" != all ]; then exit; fi
micro=$(dirname "$program")/bench/micro/penstock_micro_bench
printf '\n## The parts of a check\n\n'
if [ -x "$micro" ]; then
  "$micro" 2>/dev/null
else
  echo "Not measured: penstock_micro_bench is not built."
fi
