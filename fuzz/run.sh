#!/usr/bin/env bash
# Builds the fuzz targets with coverage, on stable Rust, and runs them.
#
#   fuzz/run.sh                     every target for 20 seconds; CI takes 10
#   fuzz/run.sh 1800                every target for half an hour
#   fuzz/run.sh 3600 feeds html     two targets for an hour each
#
# JOBS targets run at a time (2), and SEED is that of the random numbers (CI: 1, so that a failure is about the change).
# New inputs that reach new code are kept in fuzz/corpus/TARGET, which is not in the repository, and findings in
# fuzz/findings. A line of JSON for each target goes to standard output: CPU seconds, executions, edges and findings.
# Exits with 1 if a target has found something.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds="${1:-20}"
shift || true
host="$(rustc -vV | sed -n 's/^host: //p')"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"

# What `cargo fuzz` sets on a nightly compiler, without AddressSanitizer: the one unsafe block of Tidings is a memory map.
# `--target` keeps the flags away from build scripts and procedural macros, which cannot be linked with them.
flags=(--cfg tidings_fuzz -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table
  -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=4)
RUSTFLAGS="${flags[*]}" cargo build --locked -p tidings-fuzz --profile fuzz --target "$host" >&2
export FUZZER="$CARGO_TARGET_DIR/$host/fuzz/tidings-fuzz"
if [ "$seconds" = build ]; then exit; fi

# Scratch files go to memory where there is a file system for it.
if [ -d /dev/shm ] && [ -w /dev/shm ]; then TMPDIR=/dev/shm; fi
TMPDIR="$(mktemp -d "${TMPDIR:-/tmp}/fuzz-XXXXXX")"
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

fuzz_one() {
  local name="$1" seconds="$2" log status=0 folders=()
  log="$(mktemp)"
  mkdir -p "fuzz/corpus/$name" "fuzz/findings/$name"
  # As in src/lib.rs.
  case "$name" in
    feeds) folders=(fixtures/feeds/*) ;;
    html | links | page_links) folders=(fixtures/pages) ;;
  esac
  local dictionary=()
  if [ -f "fuzz/dictionaries/$name.dict" ]; then dictionary=("-dict=fuzz/dictionaries/$name.dict"); fi
  local TIMEFORMAT='%U %S'
  {
    time TIDINGS_FUZZ="$name" "$FUZZER" "fuzz/corpus/$name" "fuzz/seeds/$name" ${folders[@]+"${folders[@]}"} \
      ${dictionary[@]+"${dictionary[@]}"} -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 -max_len=65536 \
      -artifact_prefix="fuzz/findings/$name/" -print_final_stats=1 -seed="${SEED:-0}" >"$log" 2>&1
  } 2>"$log.time" || status=$?
  local executions edges findings=0
  executions="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)"
  edges="$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -1)"
  if [ "$status" != 0 ]; then
    findings=1
    echo "$name has a finding (fuzz/findings/$name):" >&2
    tail -40 "$log" >&2
  fi
  printf '{"target":"%s","cpu_seconds":%.0f,"executions":%s,"edges":%s,"findings":%s}\n' \
    "$name" "$(awk '{ print $1 + $2 }' "$log.time")" "${executions:-0}" "${edges:-0}" "$findings"
  rm -f "$log" "$log.time"
  return "$status"
}
export -f fuzz_one

if [ "$#" = 0 ]; then
  # shellcheck disable=SC2046
  set -- $(ls fuzz/seeds)
fi
status=0
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I{} bash -c 'fuzz_one "$1" "$2"' _ {} "$seconds" || status=1
exit "$status"
