#!/usr/bin/env bash
# http_compare.sh [BUILD_DIRECTORY]: the cost of a decision over HTTP: CPU time per request of the daemon
# with one worker, through /v1/take, forward-auth and an empty handler, beside nginx with a small file
# and limit_req, alternating in one run; then three daemons on one Redis and one limit, with their
# over-admission. Needs nginx, wrk and redis-server; the load comes from one thread.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
program=$build/penstock
seconds=${SECONDS_PER_RUN:-5}
rounds=${ROUNDS:-3}
connections=${CONNECTIONS:-64}

source bench/processes.sh

start_daemon() { # PORT STORE_LINE
  cat >"$folder/$1.yaml" <<EOF
server: {workers: 1, listen: 127.0.0.1:$1, admin: off, trusted_proxies: [127.0.0.1/32]}
$2
domains:
  default:
    rules:
      - {name: per-client, key: [client_ip], limit: 1000000000/s}
EOF
  "$program" serve --config "$folder/$1.yaml" --shutdown-delay 0s >/dev/null 2>&1 &
  started+=("$!")
  wait_for_port "$1"
}

"$build/bench/micro/penstock_http_bench_server" >"$folder/port" &
empty=$!
started+=("$empty")
until [ -s "$folder/port" ]; do sleep 0.05; done
empty_port=$(cat "$folder/port")

daemon_port=$(free_port)
start_daemon "$daemon_port" ""
daemon=${started[-1]}

nginx_port=$(free_port)
mkdir "$folder/www"
printf 'allowed\n' >"$folder/www/index.html"
cat >"$folder/nginx.conf" <<EOF
daemon off; master_process off; worker_processes 1;
pid $folder/nginx.pid; error_log /dev/null;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; keepalive_requests 100000000;
  open_file_cache max=100; open_file_cache_valid 60s;
  client_body_temp_path $folder/b; proxy_temp_path $folder/p; fastcgi_temp_path $folder/f;
  uwsgi_temp_path $folder/u; scgi_temp_path $folder/s;
  limit_req_zone \$binary_remote_addr zone=all:1m rate=1000000r/s;
  server {
    listen 127.0.0.1:$nginx_port;
    location / { root $folder/www; limit_req zone=all burst=1000000 nodelay; }
  }
}
EOF
nginx -c "$folder/nginx.conf" &
nginx=$!
started+=("$nginx")
wait_for_port "$nginx_port"

cat >"$folder/take.lua" <<'EOF'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local asked = 0
request = function()
  asked = asked + 1
  return wrk.format(nil, nil, nil, '{"key":"account:' .. asked % 1000 .. '","limit":"1000000000/s"}')
end
EOF
cat >"$folder/forward.lua" <<'EOF'
wrk.headers["X-Forwarded-Uri"] = "/v1/search?q=1"
wrk.headers["X-Forwarded-For"] = "198.51.100.7"
EOF

measure() { # NAME PID PORT PATH [WRK ARGUMENTS]
  local name=$1 pid=$2 url="http://127.0.0.1:$3$4" before after requests
  shift 4
  before=$(ticks "$pid")
  wrk -t1 -c"$connections" -d"${seconds}s" "$@" "$url" >"$folder/wrk"
  after=$(ticks "$pid")
  grep -q "Non-2xx" "$folder/wrk" && { cat "$folder/wrk"; exit 1; }
  requests=$(awk '/requests in/ { print $1 }' "$folder/wrk")
  echo "$before $after" | awk -v name="$name" -v hertz="$hertz" -v requests="$requests" \
    -v seconds="$seconds" '{
      scale = 1e6 / hertz / requests
      printf "%-14s %6.2f us CPU per request, %5.2f of it in the program, %7.0f requests/s\n", name,
        ($3 + $4 - $1 - $2) * scale, ($3 - $1) * scale, requests / seconds }'
}

sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sort | uniq -c
for _ in $(seq "$rounds"); do
  measure nginx "$nginx" "$nginx_port" /
  measure take "$daemon" "$daemon_port" /v1/take -s "$folder/take.lua"
  measure forward-auth "$daemon" "$daemon_port" /v1/forward-auth -s "$folder/forward.lua"
  measure empty "$empty" "$empty_port" /
done

echo
echo "three daemons, one Redis, one limit of 10 000 per hour, load from penstock-bench http:"
redis_port=$(free_port)
redis-server --port "$redis_port" --bind 127.0.0.1 --save "" --dir "$folder" >/dev/null &
started+=("$!")
wait_for_port "$redis_port"
ports=()
for _ in 1 2 3; do
  ports+=("$(free_port)")
  start_daemon "${ports[-1]}" "store: {url: 'redis://127.0.0.1:$redis_port', timeout: 1s}"
done
"$program" bench http "127.0.0.1:${ports[0]}" "127.0.0.1:${ports[1]}" "127.0.0.1:${ports[2]}" \
  --limit "10000/h fixed_window" --keys 1 --connections 48 --time "${seconds}s"
echo
echo "the same on 1000 keys of 10 per second each:"
"$program" bench http "127.0.0.1:${ports[0]}" "127.0.0.1:${ports[1]}" "127.0.0.1:${ports[2]}" \
  --limit "10/s" --keys 1000 --connections 48 --time "${seconds}s"
