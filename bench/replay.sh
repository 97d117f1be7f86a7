#!/usr/bin/env bash
# replay.sh [BUILD_DIRECTORY]: `penstock replay` on nginx combined lines, one core: lines per second of CPU time
# for one and two limits per request, and memory per distinct subject. LINES (10000000), SUBJECTS (1000000).
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
lines=${LINES:-10000000}
subjects=${SUBJECTS:-1000000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# 2000 lines a second of log time; clients are taken in a fixed pseudo-random order.
generate() { # LINES SUBJECTS
  awk -v lines="$1" -v subjects="$2" 'BEGIN {
    split("/ /login /v1/search?q= /v1/items/ /static/app.js /v1/orders/", paths, " ")
    for (i = 0; i < lines; i++) {
      s = int(i / 2000)
      if (i % 2000 == 0) time = sprintf("%02d/Nov/2026:%02d:%02d:%02d +0000", 1 + int(s / 86400) % 28, int(s / 3600) % 24, int(s / 60) % 60, s % 60)
      client = (i * 7919) % subjects
      path = paths[1 + i % 6]; if (path ~ /[=\/]$/ && path != "/") path = path (i % 10007)
      printf "10.%d.%d.%d - - [%s] \"GET %s HTTP/1.1\" 200 %d \"https://example.com/\" \"Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\"\n", int(client / 65536) % 256, int(client / 256) % 256, client % 256, time, path, 100 + i % 9000
    }
  }'
}

cat >"$folder/one.yaml" <<YAML
domains: {web: {rules: [{name: client, key: [client_ip], limit: 600/m}]}}
YAML
cat >"$folder/two.yaml" <<YAML
domains:
  web:
    rules:
      - {name: client, key: [client_ip], limit: 600/m}
      - {name: search, when: {path: /v1/search}, key: [client_ip], limit: 60/m, algorithm: gcra}
YAML

# CPU seconds, kilobytes
measure() { # ARGUMENT...
  python3 - "$build/penstock" replay --json "$@" <<'PYTHON'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.2f} {used.ru_maxrss}")
PYTHON
}

report() { # NAME ARGUMENT...
  local name=$1 seconds kilobytes
  shift
  read -r seconds kilobytes < <(measure "$@")
  awk -v name="$name" -v lines="$lines" -v seconds="$seconds" -v kilobytes="$kilobytes" 'BEGIN {
    printf "%-32s %9.0f lines/s  %6.2f s CPU  %7.0f MB\n", name, lines / seconds, seconds, kilobytes / 1024
  }'
}

generate "$lines" 10000 >"$folder/few.log"
echo "$lines lines, $(du -m "$folder/few.log" | cut -f1) MB, 10000 subjects"
report "one limit" --config "$folder/one.yaml" "$folder/few.log"
report "two limits, one for a path" --config "$folder/two.yaml" "$folder/few.log"
report "two limits, --against, --suggest" --config "$folder/two.yaml" --against "$folder/one.yaml" --suggest "$folder/few.log"
rm "$folder/few.log"

# A fixed window of a day keeps the usage of every subject; each sends two requests.
per_subject() { # NAME LIMIT ARGUMENT...
  local name=$1 few many _
  echo "domains: {web: {rules: [{name: client, key: [client_ip], limit: $2/d, algorithm: fixed_window}]}}" >"$folder/day.yaml"
  shift 2
  read -r _ few < <(measure --config "$folder/day.yaml" "$@" "$folder/small.log")
  read -r _ many < <(measure --config "$folder/day.yaml" "$@" "$folder/many.log")
  echo "memory per subject, $name: $(((many - few) * 1024 / (subjects - 1000))) bytes"
}
generate "$((2 * subjects))" 1000 >"$folder/small.log"
generate "$((2 * subjects))" "$subjects" >"$folder/many.log"
per_subject "one limit" 600
per_subject "one limit, --suggest" 600 --suggest
per_subject "one limit, every subject denied" 1
