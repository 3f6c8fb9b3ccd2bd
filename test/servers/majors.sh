# "./dev majors": every major that can be had here, one after the other, and a
# table of what was tested and what was not: sourced by ./dev.
#
# What matters most comes first.  How long a run takes is estimated from what
# the first one, all tests on the installed major, took on this machine today.
# A run that would not end in time, or has not, or whose server cannot be had, is
# left out and said to be; only tests that fail make the whole fail.

# The other majors, the newest first.  16 is no package of Debian's, but shows how
# we do without lz4 and ICU (wheel.sh).
other_majors=${PGS_MAJORS:-19 18 17 16}

# What depends on the server: a choice for every major, each with the percentage of the
# first run's time that it takes.  Tests with several servers (tap, with its parts "same"
# and "upgrade") and PostgreSQL's own suites take as long as all the rest.
major_parts="55 tree basic model append tap core
    25 tree basic same model upgrade
    8 tree basic"

# Random sessions on heap tables make servers with assertions fail one of their own,
# in heap_update().
assert_parts="20 tree basic upgrade
    12 tree basic"

run_majors() {
    local major choices archive
    deadline=$((SECONDS + ${1:-58} * 60)) whole=0 bad=0 child=
    # percent of the first run's time that the runs to come take at least
    to_come=$((8 * $(wc -w <<<"$other_majors ${PGS_SOURCES:-}") + 12))
    majors=$(mktemp -d "$PGS_TMPDIR/pg_sliced.XXXXXX")
    mkfifo "$majors/pipe"
    trap 'rm -rf "$majors"' EXIT
    trap '[ -z "$child" ] || kill "$child"; wait; exit 130' INT TERM
    echo "major|server|asserts|parts|passed|failed|skipped|minutes" >"$majors/table"

    run_major "0 $all_parts" "$PG_MAJOR" "Debian, installed"
    run_major "$assert_parts" "$PG_MAJOR" "Debian's source" --assert
    for major in $other_majors; do
        choices=$major_parts
        # there is no source of its minor to take core's suites from
        [ "$major" != "$wheel_major" ] || choices=$(tail -n +2 <<<"$major_parts")
        [ "$major" = "$PG_MAJOR" ] || run_major "$choices" "$major" "$(server_of "$major")" --pg "$major"
    done
    for archive in ${PGS_SOURCES:-}; do
        run_major "$major_parts" '?' "${archive##*/}" --pg-source "$archive"
    done

    echo
    column -t -s '|' "$majors/table"
    cat "$majors/left_out" 2>/dev/null || true
    [ "$bad" = 0 ]
}

# Where does a major come from?
server_of() {
    if [ "$1" = "$wheel_major" ]; then
        echo "Python package"
    else
        echo "Debian $(release_of "$1")"
    fi
}

# run_major CHOICES MAJOR SERVER [OPTION...]: "./dev test" with these options, and the
# first choice that leaves time for the runs to come; or else the last.
run_major() {
    local choices=$1 major=$2 server=$3 log=$majors/log status=0 start=$SECONDS
    local left=$((deadline - SECONDS)) choice weight parts totals asserts=no
    local passed failed skipped
    shift 3
    to_come=$((to_come - $(tail -n 1 <<<"$choices" | xargs | cut -d ' ' -f 1)))
    while IFS= read -r choice; do
        read -r weight parts <<<"$choice"
        [ $((whole * (weight + to_come) / 100)) -gt "$left" ] || break
    done <<<"$choices"
    if [ $((whole * weight / 100)) -gt "$left" ]; then
        left_out "$major" "$server" \
            "it takes about $((whole * weight / 6000)) minutes, and $((left / 60)) are left"
        return
    fi
    printf '\n===== PostgreSQL %s (%s)%s\n' "$major" "$server" "${*:+: ./dev test $*}"
    # shellcheck disable=SC2086
    timeout -k 60 "$left" "$root/dev" test "$@" $parts >"$majors/pipe" 2>&1 &
    child=$!
    tee "$log" <"$majors/pipe" &
    wait "$child" || status=$?
    child=
    wait
    if [ "$status" = 124 ] && ! grep -q '^not ok' "$log"; then
        left_out "$major" "$server" "it was not finished in time; what was tested until then passed"
        return
    fi
    if [ "$status" = 3 ]; then
        left_out "$major" "$server" "$(sed -n 's/^# not tested: *//p' "$log" | tail -n 1)"
        return
    fi
    whole=$((whole > 0 ? whole : SECONDS - start))
    totals=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1) || true
    IFS=' ,' read -r passed _ failed _ skipped _ <<<"$totals"
    if [ "$status" = 124 ]; then
        failed="not finished"
    elif [ "$status" != 0 ] && [ "${failed:-0}" = 0 ]; then
        failed="status $status"
    fi
    major=$(sed -n 's/^# PostgreSQL \([0-9a-z.]*\).*/\1/p' "$log" | head -n 1)
    ! grep -q '^# PostgreSQL .* assertions' "$log" || asserts=yes
    [ "$parts" != "$all_parts" ] || parts=all
    echo "${major:-$2}|$server|$asserts|$parts|${passed:-0}|${failed:-0}|${skipped:-0}|$(((SECONDS - start + 30) / 60))" \
        >>"$majors/table"
    [ "$status" = 0 ] || bad=1
    if [ "${skipped:-0}" != 0 ]; then
        sed -n "s/^# skipped: */$major: skipped /p" "$log" >>"$majors/left_out"
    fi
}

left_out() {
    echo "$1|$2|||not tested|||" >>"$majors/table"
    echo "NOT TESTED: PostgreSQL $1 ($2): $3" | tee -a "$majors/left_out"
}
