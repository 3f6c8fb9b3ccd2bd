"""A standby whose WAL ends at a stop point, as if the primary had died there.

The primary runs the scenarios and tells where in the WAL each point is, where a
scenario is the first to reach it.  A standby replays the WAL up to each of these
places in turn.  There it must show what was committed, and nothing else, and is
killed; it goes on from its last restart point.  At some places (FULL=1: at all), and
where the table is locked, a copy of it is promoted, runs the scenario's steps itself, and is thrown away.
"""
import shutil
import subprocess

from harness import *

PROMOTE_EACH = 1 if FULL else 8


def bash(script):
    subprocess.run(["bash", "-euc", '. "$PGS_ROOT/test/lib.sh"; ' + script], check=True)


def data(server):
    return os.path.join(os.environ["PGS_TMP"], server, "data")


class Place:
    """A point in the WAL, and what is to be seen there."""

    def __init__(self, lsn, point, scenario, state, after):
        self.lsn = lsn
        self.what = f"{point} ({scenario.name})"
        self.scenario = scenario
        self.state = state
        self.after = after


def places(primary, heap):
    """Run the scenarios; returns a place for each stop point."""
    found = {}
    for scenario in SCENARIOS:
        expected = model(heap, scenario)
        heap.clean_up(scenario)
        trace(primary, scenario, ALONE)
        for _, point, _, lsn in primary.stops():
            if point not in found or found[point].scenario is scenario:
                committed = point == "transaction.committed"
                found[point] = Place(lsn, point, scenario, expected.after if committed else expected.before, expected.after)
        primary.clean_up(scenario)
    return sorted(found.values(), key=lambda place: [int(part, 16) for part in place.lsn.split("/")])


def replay_up_to(server, place, action):
    with open(os.path.join(data(server), "postgresql.conf"), "a") as conf:
        conf.write(f"recovery_target_lsn = '{place.lsn}'\nrecovery_target_inclusive = off\nrecovery_target_action = {action}\n")
    bash(f"server_start {server}")
    session = Session("sliced", server)
    wanted = "NOT pg_is_in_recovery()" if action == "promote" else "pg_get_wal_replay_pause_state() = 'paused'"
    for _ in range(600):
        if session.run(f"SELECT {wanted}").fetchone()[0]:
            break
        time.sleep(0.05)
    return session


def promote_copy(place, results):
    """A copy of the standby, which does not run, takes over."""
    shutil.rmtree(os.path.dirname(data("copy")), ignore_errors=True)
    shutil.copytree(os.path.dirname(data("standby")), os.path.dirname(data("copy")),
                    ignore=shutil.ignore_patterns(".s.*", "postmaster.pid"))
    with open(os.path.join(data("copy"), "postgresql.conf"), "a") as conf:
        conf.write(f"unix_socket_directories = '{os.path.dirname(data('copy'))}/socket'\n")
    session = replay_up_to("copy", place, "promote")
    session.run(*place.scenario.before)
    results.check(session.state(), place.state, f"{place.what}: promoted")
    # a prepared transaction outlives the primary, and keeps its locks
    if session.run("SELECT count(*) FROM pg_prepared_xacts").fetchone()[0]:
        session.run("ROLLBACK PREPARED 'stops'")
    results.check(session.damage(), None, f"{place.what}: verify, promoted")
    if place.state == place.after:
        return session
    session.run(*place.scenario.again, *place.scenario.steps_alone)
    results.check(session.state(), place.after, f"{place.what}: promoted, once more")
    results.check(session.damage(), None, f"{place.what}: verify, promoted, once more")
    return session


def main():
    results = Results()
    heap = Session("heap")
    heap.run(FIXTURE)
    bash("""as_user mkdir -m 700 "$PGS_TMP/standby" "$PGS_TMP/standby/socket"
        as_user "$PGS_BINDIR/pg_basebackup" -D "$PGS_TMP/standby/data" -R -c fast
        echo "unix_socket_directories = '$PGS_TMP/standby/socket'" >>"$PGS_TMP/standby/data/postgresql.conf" """)
    todo = places(Session("sliced"), heap)
    heap.run("CHECKPOINT", "SELECT pg_switch_wal()", "CREATE TABLE later ()")
    promoted = read = 0

    for place in todo:
        session = replay_up_to("standby", place, "pause")
        locked = False
        try:
            session.run("SET lock_timeout = '100ms'")
            results.check(session.state(), place.state, f"{place.what}: on the standby")
            results.check(session.verify(), None, f"{place.what}: verify on the standby")
            read += 1
        except psycopg.errors.LockNotAvailable:
            locked = True       # by the transaction that would go on here
        session.connection.close()
        bash("server_use standby; server_kill")
        if locked or read % PROMOTE_EACH == 1 % PROMOTE_EACH:
            promoted += 1
            promote_copy(place, results).connection.close()
            bash("server_stop copy immediate")
    results.end_of(f"a standby that ends at {len(todo)} stop points: read at {read}, promoted at {promoted}", read + promoted)


main()
