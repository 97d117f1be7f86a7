#!/usr/bin/env bash
# run.sh PROGRAM: starts the daemon with examples/quickstart.yaml, and prints commands to try.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:?usage: run.sh PROGRAM}

cat <<'TEXT'

Try, in another terminal:

  # an allowed request
  curl -s -X POST http://127.0.0.1:8080/v1/take -d '{"key":"alice","limit":"5/m"}'

  # the headers for clients
  curl -si -X POST http://127.0.0.1:8080/v1/check -d '{"domain":"default","attributes":{"path":"/login","client_ip":"203.0.113.7"}}'

  # a burst of five logins, then five per minute; the sixth gets a 429
  for i in 1 2 3 4 5 6; do curl -s -o /dev/null -w '%{http_code}\n' http://127.0.0.1:8080/v1/forward-auth -H 'X-Forwarded-Uri: /login'; done

The rules are in examples/quickstart.yaml: edit them, and the daemon reloads. Ctrl-C stops it.

TEXT
exec "$program" serve --config examples/quickstart.yaml
