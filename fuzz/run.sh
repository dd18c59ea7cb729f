#!/usr/bin/env bash
# Builds the fuzz targets with coverage, on stable Rust, and runs them.
#
#   fuzz/run.sh                     every target for 20 seconds; CI takes 10
#   fuzz/run.sh 1800                every target for half an hour
#   fuzz/run.sh 3600 feeds html     two targets for an hour each
#
# JOBS targets run at a time (2), and SEED is that of the random numbers (CI: 1, so that a failure is about the change).
# New inputs that reach new code are kept in fuzz/corpus/TARGET, which is not in the repository, and findings in
# fuzz/findings. A target with a finding goes on with the rest of its time, up to FINDINGS findings (1; more for long runs).
# A line of JSON for each target goes to standard output: CPU seconds, executions, edges, inputs of the corpus and
# findings. RESULTS=FILE writes all of them as one table, with the machine and the sums:
#
#   RESULTS=bench/results/$(date +%F)-fuzz.json JOBS=2 FINDINGS=20 fuzz/run.sh 1800
#
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

# One run of libFuzzer: log, name, seconds, folders and options.
fuzz_once() {
  local log="$1" name="$2" seconds="$3"
  shift 3
  local TIMEFORMAT='%U %S'
  {
    time TIDINGS_FUZZ="$name" "$FUZZER" "$@" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=2048 \
      -max_len=65536 -artifact_prefix="fuzz/findings/$name/" -print_final_stats=1 >"$log" 2>&1
  } 2>>"$log.time"
}

fuzz_one() {
  local name="$1" seconds="$2" log folders=() dictionary=()
  log="$(mktemp)"
  mkdir -p "fuzz/corpus/$name" "fuzz/findings/$name"
  # As in src/lib.rs.
  case "$name" in
    feeds) folders=(fixtures/feeds/*) ;;
    html | links | page_links) folders=(fixtures/pages) ;;
  esac
  if [ -f "fuzz/dictionaries/$name.dict" ]; then dictionary=("-dict=fuzz/dictionaries/$name.dict"); fi
  local executions=0 edges=0 findings=0 found end=$((SECONDS + seconds)) left="$seconds"
  while [ "$left" -gt 0 ]; do
    local status=0
    fuzz_once "$log" "$name" "$left" "fuzz/corpus/$name" "fuzz/seeds/$name" ${folders[@]+"${folders[@]}"} \
      ${dictionary[@]+"${dictionary[@]}"} -seed="$((${SEED:-0} + (${SEED:-0} > 0 ? findings : 0)))" || status=$?
    found="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)"
    executions=$((executions + ${found:-0}))
    found="$(sed -n 's/.* cov: \([0-9]*\).*/\1/p' "$log" | tail -1)"
    if [ "${found:-0}" -gt "$edges" ]; then edges="$found"; fi
    if [ "$status" = 0 ]; then break; fi
    findings=$((findings + 1))
    echo "$name has a finding (fuzz/findings/$name):" >&2
    tail -40 "$log" >&2
    if [ "$findings" -ge "${FINDINGS:-1}" ]; then break; fi
    left=$((end - SECONDS))
  done
  printf '{"target":"%s","cpu_seconds":%.0f,"executions":%d,"edges":%d,"corpus":%d,"findings":%d}\n' "$name" \
    "$(awk '{ sum += $1 + $2 } END { print sum }' "$log.time")" "$executions" "$edges" \
    "$(find "fuzz/corpus/$name" -type f | wc -l)" "$findings"
  rm -f "$log" "$log.time"
  [ "$findings" = 0 ]
}
export -f fuzz_once
export -f fuzz_one

if [ "$#" = 0 ]; then
  # shellcheck disable=SC2046
  set -- $(ls fuzz/seeds)
fi
lines="$(mktemp)"
status=0
printf '%s\n' "$@" | xargs -P "${JOBS:-2}" -I{} bash -c 'fuzz_one "$1" "$2"' _ {} "$seconds" | tee "$lines" || status=1

if [ -n "${RESULTS:-}" ]; then
  total() { sed "s/.*\"$1\":\([0-9]*\).*/\1/" "$lines" | awk '{ sum += $1 } END { printf "%d", sum }'; }
  {
    echo '{'
    echo '  "benchmark": "fuzz/run.sh",'
    printf '  "seconds_for_each_target": %d,\n  "at_a_time": %d,\n' "$seconds" "${JOBS:-2}"
    printf '  "machine": "%s cores, %s",\n' "$(nproc)" "$(uname -sr)"
    printf '  "rust": "%s",\n' "$(rustc -V)"
    echo '  "targets": ['
    sort "$lines" | sed 's/^/    /; $!s/$/,/'
    echo '  ],'
    printf '  "total": { "cpu_seconds": %d, "executions": %d, "findings": %d }\n' \
      "$(total cpu_seconds)" "$(total executions)" "$(total findings)"
    echo '}'
  } >"$RESULTS"
fi
exit "$status"
