#!/usr/bin/env bash
# resp_compare.sh [BUILD_DIRECTORY]: the cost of a decision over the Redis protocol: CPU time per command
# of the daemon with one worker beside redis-server with INCR, alternating in one run under the same
# client, with a pipeline of 64 and without; then how many of a limit were admitted too many. Needs
# redis-server and redis-benchmark.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
program=$build/penstock
rounds=${ROUNDS:-3}
pipelined=${PIPELINED:-3000000} # commands
single=${SINGLE:-300000}
connections=${CONNECTIONS:-50}

source bench/processes.sh

redis_port=$(free_port)
redis-server --port "$redis_port" --bind 127.0.0.1 --save "" --dir "$folder" >/dev/null &
redis=$!
started+=("$redis")
wait_for_port "$redis_port"

port=$(free_port)
cat >"$folder/penstock.yaml" <<YAML
server: {workers: 1, listen: 127.0.0.1:$(free_port), admin: off}
resp: {listen: 127.0.0.1:$port}
YAML
"$program" serve --config "$folder/penstock.yaml" --shutdown-delay 0s >/dev/null 2>&1 &
daemon=$!
started+=("$daemon")
wait_for_port "$port"

measure() { # NAME PID PORT COMMANDS PIPELINE COMMAND...
  local name=$1 pid=$2 at=$3 count=$4 pipeline=$5 before after rate
  shift 5
  before=$(ticks "$pid")
  rate=$(redis-benchmark -p "$at" -c "$connections" -n "$count" -P "$pipeline" -r 100000 --csv "$@" \
    2>/dev/null | tail -1 | awk -F'","' '{ print $2 }')
  after=$(ticks "$pid")
  echo "$before $after" | awk -v name="$name" -v hertz="$hertz" -v count="$count" -v rate="$rate" '{
      scale = 1e6 / hertz / count
      printf "%-34s %7.3f us CPU per command, %6.3f of it in the program, %9.0f commands/s\n", name,
        ($3 + $4 - $1 - $2) * scale, ($3 - $1) * scale, rate }' | tee -a "$folder/measured"
}

sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sort | uniq -c
for _ in $(seq "$rounds"); do
  measure "redis INCR, pipeline 64" "$redis" "$redis_port" "$pipelined" 64 INCR key
  measure "penstock one key, pipeline 64" "$daemon" "$port" "$pipelined" 64 \
    CL.THROTTLE key 100000 1000000 1 1
  measure "penstock 100000 keys, pipeline 64" "$daemon" "$port" "$pipelined" 64 \
    CL.THROTTLE key:__rand_int__ 100000 1000000 1 1
  measure "redis INCR" "$redis" "$redis_port" "$single" 1 INCR key
  measure "penstock one key" "$daemon" "$port" "$single" 1 CL.THROTTLE key 100000 1000000 1 1
done

echo
echo "CPU per command, best of $rounds, and as a multiple of redis INCR:"
awk '{
    name = substr($0, 1, 34); sub(/ +$/, "", name); cost = substr($0, 35) + 0
    if (!(name in best) || cost < best[name]) best[name] = cost
    if (!(name in order)) { order[name] = ++names; by[names] = name }
  }
  END {
    for (i = 1; i <= names; ++i) {
      base = by[i] ~ /pipeline/ ? best["redis INCR, pipeline 64"] : best["redis INCR"]
      printf "%-34s %7.3f us  x %.2f\n", by[i], best[by[i]], best[by[i]] / base
    }
  }' "$folder/measured"

echo
echo "over-admission: a limit of 10000 per day, 200000 requests on $connections connections:"
redis-benchmark -p "$port" -c "$connections" -n 200000 -P 64 -q CL.THROTTLE crowd 9999 1 86400 \
  >/dev/null 2>&1
left=$(redis-cli -p "$port" CL.THROTTLE crowd 9999 1 86400 0 | sed -n 3p)
reset=$(redis-cli -p "$port" CL.THROTTLE crowd 9999 1 86400 0 | sed -n 5p)
echo "admitted $(((reset + 86399) / 86400)) of 10000, $left left"
