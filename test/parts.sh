# The parts of "./dev test", which sources this.
#
# A part is a function part_NAME.  It runs in a subshell, with the private tree
# of test/lib.sh in place, and prints a line "ok - ..." or "not ok - ..."
# for each of its tests, "# skipped: ..." for what cannot be tested here, and
# "# ..." to tell more.  Words behind a part name tests of it.

all_parts="lint tree basic tap model append soak fuzz stops tiny core bench"

# Those of them that reach more with tiny limits, and those that count for coverage.
tiny_parts="basic unit regress contrib isolation model"
coverage_parts="basic tap model"

# Seconds that each takes on two idle cores, more or less.
declare -A part_seconds=([lint]=20 [tree]=1 [basic]=150 [unit]=80 [regress]=100 [contrib]=65 [isolation]=20 [tap]=560 [model]=130
    [append]=80 [soak]=60 [fuzz]=115 [stops]=410 [tiny]=500 [core]=130 [bench]=290 [same]=30 [upgrade]=25 [quick]=160 [coverage]=1500)

# What PART... will take; nothing if only some of a part's tests are run, or it is not known.
parts_take() {
    local name seconds=0
    for name; do
        [ -z "${only[$name]:-}" ] || return 0
        seconds=$((seconds + ${part_seconds[$name]:-0}))
    done
    [ $seconds -lt 60 ] || echo "# about $(((seconds + 30) / 60)) minutes${to_go:+ $to_go}"
}

# The checkout without what is made from it, as a tar file.
checkout_files() {
    tar -C "$root" --exclude=./.git --exclude='./test/output*' --exclude='./contrib/*/output*' --exclude=./bench/output \
        --exclude=./test/fuzz/build --exclude=./.deps --exclude=./.made_for --exclude=__pycache__ --exclude='*.o' --exclude='*.so' --exclude='*.bc' -cf - .
}

# The same in a new directory.
checkout_copy() {
    mkdir "$1"
    checkout_files | tar -C "$1" --no-same-owner -xf -
}

# A copy of the checkout that PGS_USER may write to: nobody but we may be able
# to read the original.
copy_checkout() {
    [ ! -d "$PGS_TMP/checkout" ] || return 0
    as_user mkdir "$PGS_TMP/checkout"
    checkout_files | as_user tar -C "$PGS_TMP/checkout" --no-same-owner -xf -
}

# Run part $1; add what it counted to the totals.
part() {
    local log=$T/log/$1 start=$EPOCHREALTIME status left ok notok filter='^not ok|^# '
    [ -z "${VERBOSE:-}" ] || filter=
    printf '== %s\n' "$1"
    set +e
    (set -e; "part_$1") 2>&1 | tee "$log" | grep --line-buffered -E "$filter"
    status=${PIPESTATUS[0]}
    set -e
    servers_stop
    find "$PGS_TMP" -mindepth 1 -maxdepth 1 ! -name initdb ! -name checkout | while read -r left; do
        clear_away "$left"
    done
    ok=$(grep -c '^ok' "$log" || true)
    notok=$(grep -c '^not ok' "$log" || true)
    if [ "$status" != 0 ] && [ "$notok" = 0 ]; then
        notok=1
        tail -n 40 "$log"
        echo "not ok - $1 ended with status $status"
    fi
    passed=$((passed + ok))
    failed=$((failed + notok))
    skipped=$((skipped + $(grep -c '^# skipped:' "$log" || true)))
    echo "$1 $ok $notok $start $EPOCHREALTIME" |
        awk '{ printf "== %s: %d ok, %d not ok, %.1f s\n", $1, $2, $3, $5 - $4 }'
}

# Run script test/$1 as PGS_USER, in a directory of its own; show what it said.
script() {
    local name=$1 dir=$PGS_TMP/${1//\//-} start=$SECONDS
    local log=$T/${1//\//-}
    # it is there if two parts have this script
    as_user rm -rf "$dir"
    as_user mkdir "$dir"
    (
        export PGS_ROOT=$PGS_TMP/checkout
        export PGS_TMP=$dir
        as_user "$PGS_ROOT/test/$name" 2>&1 || echo "not ok - $name ended with status $?"
        servers_stop
    ) >"$log"
    grep -qE '^(not )?ok|^# skipped:' "$log" || echo "not ok - $name tested nothing" >>"$log"
    echo "# $name: $((SECONDS - start)) s" >>"$log"
    flock "$T" cat "$log"
    clear_away "$dir"
}

# Data directories, WAL and dumps would soon fill the disk.
clear_away() {
    [ -n "${KEEP:-}" ] || rm -rf "$@"
}

# scripts FOLDER NAME...: run these scripts of test/FOLDER, two at a time.
scripts() {
    local folder=$1 file name
    shift
    copy_checkout
    for name; do
        file=$(cd "$root/test/$folder" && echo "$name".[sp][hy])
        [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
        { script "$folder/$file" || echo "not ok - $folder/$file was not run"; } &
    done
    wait
}

# Run pg_regress or pg_isolation_regress through make; $1 is its output folder.
installcheck() {
    local output=$1 log=$T/installcheck.${1//\//-}
    shift
    copy_checkout
    as_user make -s -C "$PGS_TMP/checkout/${subdir:-}" PG_CONFIG="$PG_CONFIG" installcheck "$@" >"$log" 2>&1 ||
        grep -qE '^not ok|\.\.\. FAILED' "$log" || {
        echo "not ok - make installcheck"
        tail "$log" | sed 's/^/# /'
    }
    # PostgreSQL 16 and later print ok lines themselves.
    awk '/^(not )?ok/ { print; next }
         match($0, /\.\.\. +(ok|FAILED)/) {
             verdict = substr($0, RSTART) ~ /ok/ ? "ok" : "not ok"
             sub(/^ *(test +)?/, ""); print verdict " - " $1; next }
         { print "  " $0 }' "$log" >"$log.verdict"
    # For looking at, and for copying results to expected.
    output=${subdir:+$subdir/}$output
    rm -rf "${root:?}/$output"
    cp -r "$PGS_TMP/checkout/$output" "$root/$output" 2>/dev/null || true
    if is_tiny; then
        "$root/test/tiny/compare" "$root/${subdir:-test}/expected" "$root/$output/results" || true
        return
    fi
    cat "$log.verdict"
    if [ -s "$root/$output/regression.diffs" ]; then
        head -n 60 "$root/$output/regression.diffs" | sed 's/^/# /'
        echo "# all of it: $output/regression.diffs"
    fi
}

part_lint() {
    lint_rules
    # From scratch: an object that is there may have been built without warnings.
    copy_checkout
    if build "$PGS_TMP/checkout"; then
        echo "ok - compiles without warnings"
    else
        echo "not ok - compiles without warnings"
    fi
}

lint_rules() {
    "$root/test/lint/run" "$root"
    "$root/test/lint/releases" "$root"
}

# That tests test what was just built, not an installed version.
part_tree() {
    local so
    so=$PGS_TREE$("$PG_CONFIG" --pkglibdir)/pg_sliced.so
    server_start tree
    if [ "$(sql -c "LOAD 'pg_sliced'" \
        -c "SELECT strpos(pg_read_file('/proc/self/maps'), '$so') > 0")" = t ]; then
        echo "ok - the server loads the extension from the private tree"
    else
        echo "not ok - the server does not load $so"
    fi
    server_stop tree
}

part_unit() { tests_of unit | xargs "$root/test/unit/run"; }

# like_heap takes as long as all others: it has a server of its own beside theirs.
part_regress() {
    copy_checkout
    regress_on like_heap test/output_like_heap "$(tests_of regress | grep -x like_heap)" >"$T/like_heap" 2>&1 &
    regress_on regress test/output "$(tests_of regress | grep -vx like_heap)"
    wait "$!" || echo "not ok - like_heap ended with status $?"
    cat "$T/like_heap"
}

# regress_on SERVER OUTPUT TESTS
regress_on() {
    [ -n "$3" ] || return 0
    server_start "$1"
    installcheck "$2" ISOLATION= REGRESS="$(xargs <<<"$3")" \
        REGRESS_OPTS="--inputdir=test --outputdir=$2 --dbname=contrib_regression"
    server_stop "$1"
}

# The other extensions, which the tree has as well.
part_contrib() {
    local subdir lacks
    server_start contrib
    for subdir in $(tests_of contrib); do
        subdir=contrib/$subdir
        lacks=$(contrib_lacks "$root/$subdir" | xargs)
        if [ -n "$lacks" ]; then
            echo "# skipped: $subdir: this server has no $lacks"
        else
            installcheck output ISOLATION=
            [ ! -d "$root/$subdir/specs" ] || installcheck output_iso REGRESS=
        fi
    done
    server_stop contrib
}

part_isolation() {
    server_start isolation
    installcheck test/output_iso REGRESS= ISOLATION="$(tests_of isolation | xargs)"
    server_stop isolation
}

# Run functions side by side, and show then what each said.
side_by_side() {
    local name
    copy_checkout
    for name; do
        ("$name" || echo "not ok - $name ended with status $?") >"$T/beside.$name" 2>&1 &
    done
    wait
    cat "$T"/beside.*
}

# The parts with one server each, which keep one core busy each.
part_basic() { side_by_side part_unit part_regress part_contrib part_isolation; }

# What is worth running after every change.
part_quick() { side_by_side lint_rules part_unit part_regress part_contrib part_isolation; }

part_tap() {
    # shellcheck disable=SC2046
    set -- $(tests_of tap)
    case " $* " in *failing_memory*) need python3-psycopg ;; esac
    case " $* " in *upgrade*) old_server "$PG_MAJOR" "$T/old" ;; esac
    scripts t "$@"
}

# Of these, only what needs an older major.
part_upgrade() {
    old_server "$PG_MAJOR" "$T/old"
    # shellcheck disable=SC2046
    scripts t $(all_tests_of tap | grep upgrade)
}

# Those scripts of tap that compare functions: what depends on the server most.
part_same() {
    # shellcheck disable=SC2046
    scripts t $(all_tests_of tap | grep -E '_same_(functions|jsonb|arrays|hstore)$')
}

part_model() {
    need python3-psycopg
    server_start model
    # shellcheck disable=SC2046
    scripts model $(tests_of model)
    server_stop model
}

# One after the other, as each keeps all cores busy.  Longer: MINUTES=10 ./dev test append
part_append() {
    local mode
    need python3-psycopg
    copy_checkout
    for mode in $(tests_of append); do
        MODE=$mode script append/append.sh
    done
}

# Longer: MINUTES=60 ./dev test soak
part_soak() {
    need python3-psycopg
    # shellcheck disable=SC2046
    scripts soak $(tests_of soak)
}

part_fuzz() {
    need clang
    need "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
    "$root/test/fuzz/run"
}

part_core() {
    need bzip2
    "$root/test/core/run"
}

# PostgreSQL's regression tests with as little memory as can be, and our nodes in
# all plans if limits are tiny: whatever spills must come back.
part_core_spill() {
    need bzip2
    CORE_AM=spill CORE_SUITES=regress "$root/test/core/run"
}

# The regression tests again, on a server under valgrind.
part_valgrind() {
    need valgrind
    cp "$root"/test/valgrind/{postgres,suppressions} "$PGS_TREE"
    as_user mkdir "$PGS_TMP/valgrind"
    export PGS_POSTGRES=$PGS_TREE/postgres
    part_regress
    part_contrib
    "$root/test/valgrind/report"
}

# The parts that reach more with tiny limits.  Of PostgreSQL's suites the longer
# one, as concurrency is the same whatever the lengths.
part_tiny() {
    env -u PGS_TREE VERBOSE=1 CORE_SUITES="${CORE_SUITES:-regress}" \
        "$root/dev" test --tiny basic model core core_spill
}

# Failures at every stop point, in a build that has them.
part_stops() {
    if has_stop_points; then
        need_bench
        # shellcheck disable=SC2046
        scripts stops $(tests_of stops)
    else
        # shellcheck disable=SC2086
        env -u PGS_TREE VERBOSE=1 PGS_CPPFLAGS="${PGS_CPPFLAGS:-} -DSLICED_STOP_POINTS" "$root/dev" test stops ${only[stops]:-}
    fi
}

# Which of our lines and branches tests take.
part_coverage() { env -u PGS_TREE VERBOSE=1 "$root/dev" coverage; }

# run_coverage PART...: run these parts in builds that count, and print the table.  Those that reach
# more with tiny limits run a second time.  A process adds its counts to files beside the objects
# when it exits, one process at a time.  If it is killed, its counts are lost.
run_coverage() {
    local part tiny='' status=0 counts goal=0
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || { set -- $coverage_parts && goal=90; }
    for part; do
        case " $tiny_parts " in *" $part "*) tiny+=" $part" ;; esac
    done
    counts=$(mktemp -d "$PGS_TMPDIR/pg_sliced.XXXXXX")
    # shellcheck disable=SC2064
    trap "clear_away $counts" EXIT
    trap 'exit 130' INT TERM
    chmod 755 "$counts"
    export PGS_COVERAGE=$counts PGS_CPPFLAGS="--coverage -O0 -Wno-cpp -include $root/test/coverage/macros.h ${PGS_CPPFLAGS:-}"
    "$root/dev" test "$@" || status=1
    # shellcheck disable=SC2086
    [ -z "$tiny" ] || "$root/dev" test --tiny $tiny || status=1
    mkdir -p "$root/test/output_coverage"
    "$root/test/coverage/table" "$root" "$counts" "$root/test/output_coverage" $goal || status=1
    return $status
}

# Tests that applications bring with them, of Python's and Go's registries.
part_suites() {
    need python3-venv
    # shellcheck disable=SC2046
    "$root/test/suites/run" $(tests_of suites)
}

# With Debezium, of a Maven repository.
part_debezium() {
    need default-jdk-headless maven
    copy_checkout
    "$PGS_TMP/checkout/test/debezium/run"
}

# Packages, in roots of their own.
part_package() {
    need debootstrap util-linux dpkg-dev git gnupg
    "$root/test/package/run" "${packages_to:-}"
    "$root/test/package/image"
}

# A cluster of Citus, where the server has it.
part_citus() {
    copy_checkout
    "$PGS_TMP/checkout/test/citus/run"
}

part_bench() {
    need_bench
    "$root/bench/run" --quick
}

# Is the extension compiled with tiny limits (src/base/limits.h)?
is_tiny() { [[ ${PGS_CPPFLAGS:-} = *TINY* ]]; }

# ... with stop points (src/base/stop.h)?
has_stop_points() { [[ ${PGS_CPPFLAGS:-} = *STOP* ]]; }

# ... so that it counts which lines and branches are taken?
counts_coverage() { [[ ${PGS_CPPFLAGS:-} = *--coverage* ]]; }

# Do the objects in the checkout, which are for everyday use, not serve?
is_special() { [ -n "${PGS_CPPFLAGS:-}" ] || ! is_packaged; }

is_part() { declare -F "part_$1" >/dev/null; }

# ------------------------------------------------------------- single tests

# The tests of each part that are named, if any are.
declare -A only=()

# The tests of part $1 that are to run.
tests_of() {
    # shellcheck disable=SC2086
    if [ -n "${only[$1]:-}" ]; then
        printf '%s\n' ${only[$1]}
    else
        all_tests_of "$1"
    fi
}

# All tests of part $1, if they can be run one by one.
all_tests_of() {
    case $1 in
        regress) files_in test/sql .sql ;;
        isolation) files_in test/specs .spec ;;
        unit) files_in test/unit .c | sed -n 's/^test_//p' ;;
        contrib) files_in contrib '' ;;
        tap) files_in test/t .sh ;;
        model) files_in test/model .py && files_in test/model .sh ;;
        append) printf '%s\n' checker sabotage pretended heap mixed serializable kills promotion subscriber ;;
        suites) "$root/test/suites/run" --list ;;
        soak | stops) files_in "test/$1" .sh ;;
    esac | grep -vxE "$(not_when_tiny "$1")"
}

# The tests of part $1 that tiny limits spoil: what is read and written is a matter of the
# lengths, and nearly all values are too long for a dictionary.
not_when_tiny() {
    case $(is_tiny && echo "$1") in
        regress) echo 'costs|arrays|dictionaries|differences|statistics' ;;
        isolation) echo training ;;
        *) echo ' ' ;;
    esac
}

# The files of folder $1 whose names end with $2, without that.
files_in() {
    local file
    for file in "$root/$1"/*"$2"; do
        basename "$file" "$2"
    done
}

# Print the tests of part $1 that word $2 stands for: the one of that name, or those whose
# names begin with it, or those whose names contain it.
tests_named() {
    local all form
    all=$(all_tests_of "$1") || die "test: \"$2\" is no part, and part $1 has no tests with names"
    for form in "$2" "$2*" "*$2*"; do
        # shellcheck disable=SC2254
        while read -r name; do
            case $name in $form) echo "$name" ;; esac
        done <<<"$all" | grep . && return
    done
    # shellcheck disable=SC2086
    die "test: \"$2\" is no part and no test of part $1; $(near "$2" $all)"
}

# Which of NAME... look like WORD?  All, if none does.
near() {
    "$PGS_PYTHON" -c 'if True:
        import difflib, sys
        word, *names = sys.argv[1:]
        close = difflib.get_close_matches(word, names, 5, 0.5)
        print("perhaps: " + ", ".join(close) if close else "it has: " + ", ".join(names))' "$@"
}

# Words to parts: set "parts" and "only".  A word that names no part names tests of the part before it.
choose() {
    local word part='' names
    parts=()
    for word; do
        if is_part "$word"; then
            part=$word
            [[ " ${parts[*]} " = *" $part "* ]] || parts+=("$part")
        else
            # shellcheck disable=SC2046
            [ -n "$part" ] || die "there is no test part \"$word\"; $(near "$word" $(declare -F | sed -n 's/^declare -f part_//p'))"
            names=$(tests_named "$part" "$word") || exit
            only[$part]+="$(xargs <<<"$names") "
        fi
    done
}

# The server to test on: the installed major's unless options say something else.
run_tests() {
    local major='' archive='' assert='' tiny=''
    while :; do
        case ${1:-} in
            --tiny) tiny=$1 ;;
            --assert) assert=$1 ;;
            --pg) major=${2:-} && shift ;;
            --pg-source) archive=$(realpath "${2:-}") && shift ;;
            *) break ;;
        esac
        shift || die "test: an option lacks its argument"
    done
    if [ -n "$tiny" ]; then
        export PGS_CPPFLAGS="${PGS_CPPFLAGS:+$PGS_CPPFLAGS }-DSLICED_TINY_LIMITS"
        [ $# -gt 0 ] || die "test --tiny: which parts?"
    fi
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $all_parts
    choose "$@"
    [ "$major" != "$PG_MAJOR" ] || major=
    if [ -n "$major" ] && [ "$major" != "$wheel_major" ]; then
        # shellcheck disable=SC2086
        test_in_root "$major" $assert $tiny "$@"
        return
    elif [ -n "$major" ]; then
        [ -z "$assert" ] || die "test: there is no source of PostgreSQL $major"
        server_from_wheel
    elif [ -n "$archive$assert" ]; then
        server_from_archive "$archive" "$assert"
    else
        run_parts
        return
    fi
    # shellcheck disable=SC2086
    exec env PG_CONFIG="$PG_CONFIG" "$root/dev" test $tiny "$@"
}

# Run "parts".
run_parts() {
    local name done_parts=0
    passed=0 failed=0 skipped=0
    setup
    # Now, because the tree links to what is installed.  A new major may not have them yet.
    case " ${parts[*]} " in *" tap "*) ! is_packaged || for package in repack wal2json decoderbufs; do need "postgresql-$PG_MAJOR-$package" 2>/dev/null || true; done ;; esac
    echo "# $("$PG_CONFIG" --version)$(has_assertions && echo ", with assertions")"
    is_special || build || {
        echo "0 passed, 1 failed"
        exit 1
    }
    prepare_temporary
    parts_take "${parts[@]}"
    for name in "${parts[@]}"; do
        part "$name"
        done_parts=$((done_parts + 1))
        to_go="to go" parts_take "${parts[@]:done_parts}"
    done
    echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
    [ "$failed" = 0 ]
}

has_assertions() { "$PG_CONFIG" --configure | grep -q -e --enable-cassert; }
