#!/usr/bin/env bash
# check_package.sh find_package|pkg_config BUILD_DIR COMPILER FLAGS: installs the build into a
# temporary prefix, builds the consumer against it, and runs it.
set -euo pipefail

finder=$1 build_dir=$2 compiler=$3 flags=$4
consumer=$(cd "$(dirname "$0")" && pwd)/consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

env -u DESTDIR cmake --install "$build_dir" --prefix "$work/prefix" >"$work/install.log" || {
  cat "$work/install.log"
  exit 1
}
cp -r "$consumer" "$work/consumer"
cd "$work/consumer"

case $finder in
  find_package)
    cmake -S . -B build -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$compiler" \
      -DCMAKE_CXX_FLAGS="$flags"
    cmake --build build
    ./build/consumer
    ;;
  pkg_config)
    pc_dir=$(dirname "$(find "$work/prefix" -name penstock.pc)")
    export PKG_CONFIG_PATH=$pc_dir
    # Unquoted: these are lists of flags.
    # shellcheck disable=SC2046,SC2086
    "$compiler" -std=c++20 $flags consumer.cpp -o consumer_pc $(pkg-config --cflags --libs penstock)
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir penstock) ./consumer_pc
    ;;
  *)
    echo "unknown finder: $finder" >&2
    exit 2
    ;;
esac

if [ -e "$work/prefix/bin/penstock" ]; then
  "$work/prefix/bin/penstock" --version
  "$work/prefix/bin/penstock" bench --version
fi
