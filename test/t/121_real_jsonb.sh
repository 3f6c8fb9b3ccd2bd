#!/bin/bash
# The same with real documents: the descriptions of a cloud's services, 1 kB to
# 1.5 MB, from a package that npm gets.  Skipped where it cannot.
set -euo pipefail
. "$PGS_ROOT/test/lib.sh"

package=aws-sdk@2
if ! command -v npm >/dev/null || ! (cd "$PGS_TMP" && timeout 120 npm pack --silent --fetch-retries=0 "$package" >npm.log 2>&1); then
    echo "ok - skipped, as npm does not get $package"
    exit
fi
tar -C "$PGS_TMP" -xzf "$PGS_TMP"/aws-sdk-*.tgz package/apis
FOLDER=$PGS_TMP/package/apis CASES=${CASES:-800} exec "$PGS_ROOT/test/t/120_same_jsonb.sh"
