#!/usr/bin/env bash
# Checks the R package: `R CMD build`, then `R CMD check` with tests against a server on a simulated corpus.
# TIDINGS_BIN names the program (default: `tidings` on the PATH); TIDINGS_DEMO a home of `tidings demo`
# that exists already.
set -euo pipefail
cd "$(dirname "$0")"
page="$(realpath ../../docs/how-to/r.md)"
tidings="${TIDINGS_BIN:-tidings}"
command -v R >/dev/null || { echo "R is missing (Debian: apt-get install r-base-core)"; exit 1; }
command -v "$tidings" >/dev/null || { echo "$tidings is no program; set TIDINGS_BIN"; exit 1; }
source="$PWD/tidings"
work="$(mktemp -d)"
server=
stop() {
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap stop EXIT

home="${TIDINGS_DEMO:-}"
if [ -z "$home" ]; then
  home="$work/demo"
  "$tidings" --quiet demo --no-serve "$home" >/dev/null
fi

# Full texts are shown to an administrator only. Port 0 picks a free port, and the server prints it.
TIDINGS_SERVE_LOOPBACK_SCOPE=admin "$tidings" --home "$home" serve --port 0 >"$work/serve.log" 2>&1 &
server=$!
for _ in $(seq 100); do
  url="$(sed -n 's/.*listening at \(http:[^ ]*\).*/\1/p' "$work/serve.log")"
  if [ -n "$url" ]; then break; fi
  kill -0 "$server" 2>/dev/null || { cat "$work/serve.log"; exit 1; }
  sleep 0.1
done
if [ -z "$url" ]; then echo "the server did not start"; cat "$work/serve.log"; exit 1; fi

cd "$work"
export TIDINGS_URL="${url%/}" TIDINGS_SCOPE=admin
# No package repository is asked, and PDF manuals need LaTeX.
export _R_CHECK_CRAN_INCOMING_=false _R_CHECK_FORCE_SUGGESTS_=false
# The package has the engine of its own vignette, so that it is installed before it is built.
mkdir library
export R_LIBS="$work/library"
R CMD INSTALL --no-docs --library="$R_LIBS" "$source" >install.log 2>&1 || { cat install.log; exit 1; }
R CMD build --no-manual "$source"
R CMD check --no-manual tidings_*.tar.gz || { cat tidings.Rcheck/tests/*.fail 2>/dev/null; exit 1; }
if grep -E '(WARNING|NOTE)$' tidings.Rcheck/00check.log; then
  echo "R CMD check warns; see above"
  exit 1
fi
# The examples of the documentation, without those marked as not run.
awk '
  /^```/ { code = !code && $0 == "```r" && before !~ /^<!-- not run/; before = $0; next }
  code { print }
  { before = $0 }
' "$page" | sed "s|http://127.0.0.1:7878|$TIDINGS_URL|" >page.R
R CMD INSTALL --library="$R_LIBS" tidings_*.tar.gz >install.log 2>&1 || { cat install.log; exit 1; }
Rscript --vanilla page.R >page.log 2>&1 || { cat page.log; exit 1; }
# Without a server the tests that need one are skipped, as on a machine of a package archive.
env -u TIDINGS_URL R CMD check --no-manual --no-vignettes tidings_*.tar.gz >offline.log 2>&1 || { cat offline.log; exit 1; }
echo "the R package passes"
