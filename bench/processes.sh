# Sourced by the scripts of this folder: a temporary folder, $folder, and servers that end with the
# script. A script that starts a server adds its process to $started.
folder=$(mktemp -d)
started=()
finish() {
  for pid in "${started[@]}"; do
    kill "$pid" 2>/dev/null || true
    kill -CONT "$pid" 2>/dev/null || true # one that was stopped
  done
  wait 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Exits if the port does not accept connections within ten seconds.
wait_for_port() { # PORT
  for _ in $(seq 200); do
    if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
    sleep 0.05
  done
  echo "$0: no listener on port $1: is the program built?" >&2
  exit 1
}

# User and system time of a process so far, in ticks of the clock.
ticks() { awk '{ print $14, $15 }' "/proc/$1/stat"; }
hertz=$(getconf CLK_TCK)
