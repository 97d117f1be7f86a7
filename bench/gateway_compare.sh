#!/usr/bin/env bash
# gateway_compare.sh [BUILD_DIRECTORY]: the cost of a proxied request: CPU time per request of the gateway
# with one worker, beside nginx with proxy_pass, limit_req and kept connections, alternating in one run, both in
# front of the same nginx with a small answer. Needs nginx and wrk; the load comes from one thread.
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
seconds=${SECONDS_PER_RUN:-5}
rounds=${ROUNDS:-3}
connections=${CONNECTIONS:-64}

source bench/processes.sh

start_nginx() { # NAME PORT HTTP_LINES SERVER_LINES
  mkdir "$folder/$1"
  cat >"$folder/$1/nginx.conf" <<CONF
daemon off; master_process off; worker_processes 1;
pid $folder/$1/pid; error_log /dev/null;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 100000000;
  client_body_temp_path $folder/$1/b; proxy_temp_path $folder/$1/p; fastcgi_temp_path $folder/$1/f;
  uwsgi_temp_path $folder/$1/u; scgi_temp_path $folder/$1/s;
  $3
  server { listen 127.0.0.1:$2; $4 }
}
CONF
  nginx -c "$folder/$1/nginx.conf" &
  started+=("$!")
  wait_for_port "$2"
}

upstream_port=$(free_port)
start_nginx upstream "$upstream_port" "" "location / { return 200 'hello from the application'; }"

nginx_port=$(free_port)
start_nginx proxy "$nginx_port" \
  "limit_req_zone \$binary_remote_addr zone=all:1m rate=1000000r/s;
   upstream app { server 127.0.0.1:$upstream_port; keepalive 128; keepalive_requests 100000000; }" \
  "location / {
     limit_req zone=all burst=1000000 nodelay;
     proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection '';
     proxy_set_header Host \$host; proxy_set_header X-Forwarded-For \$proxy_add_x_forwarded_for;
     proxy_set_header X-Forwarded-Proto \$scheme;
   }"
nginx=${started[-1]}

gateway_port=$(free_port)
cat >"$folder/penstock.yaml" <<CONF
server: {workers: 1, listen: 127.0.0.1:$(free_port), admin: off}
gateway:
  listen: 127.0.0.1:$gateway_port
  upstreams: {app: {servers: "http://127.0.0.1:$upstream_port", keepalive: 128}}
  routes: [{upstream: app}]
domains:
  default:
    rules:
      - {name: per-client, key: [client_ip], limit: 1000000000/s}
CONF
"$build/penstock" serve --config "$folder/penstock.yaml" --shutdown-delay 0s >/dev/null 2>&1 &
gateway=$!
started+=("$gateway")
wait_for_port "$gateway_port"

measure() { # NAME PID PORT
  local before after requests
  before=$(ticks "$2")
  wrk -t1 -c"$connections" -d"${seconds}s" "http://127.0.0.1:$3/v1/search?q=1" >"$folder/wrk"
  after=$(ticks "$2")
  grep -q "Non-2xx" "$folder/wrk" && { cat "$folder/wrk"; exit 1; }
  requests=$(awk '/requests in/ { print $1 }' "$folder/wrk")
  echo "$before $after" | awk -v name="$1" -v hertz="$hertz" -v requests="$requests" \
    -v seconds="$seconds" -v sums="$folder/$1.sum" '{
      scale = 1e6 / hertz / requests
      printf "%-8s %6.2f us CPU per request, %6.2f of it in the program, %7.0f requests/s\n", name,
        ($3 + $4 - $1 - $2) * scale, ($3 - $1) * scale, requests / seconds
      print ($3 + $4 - $1 - $2) * 1e6 / hertz, requests >> sums }'
}

sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | sort | uniq -c
for _ in $(seq "$rounds"); do
  measure nginx "$nginx" "$nginx_port"
  measure gateway "$gateway" "$gateway_port"
done
awk '{ cpu[FILENAME] += $1; requests[FILENAME] += $2 }
  END {
    for (name in cpu) cost[name ~ /gateway/] = cpu[name] / requests[name]
    printf "gateway %.2f us, nginx %.2f us: ratio %.2f\n", cost[1], cost[0], cost[1] / cost[0]
  }' "$folder/nginx.sum" "$folder/gateway.sum"
