"""The death of the server at every stop point: what was committed is there afterwards, and nothing else.

Each point dies in the first scenario that reaches it, the first time that it does or
a late one (FULL=1: in every scenario, both), with its WAL

  kill               written up to some earlier place
  kill-flushed       written up to there
  kill-checkpointed  written, and its pages as well
"""
from harness import *

KINDS = ("kill", "kill-flushed", "kill-checkpointed")


class Crashes:
    def __init__(self, session, results, scenario, expected):
        self.session = session
        self.results = results
        self.scenario = scenario
        self.expected = expected

    def die(self, point, kind, nth, what):
        """Returns whether the transaction was committed."""
        session, scenario = self.session, self.scenario
        steps = scenario.steps_alone
        session.prepare(scenario)
        session.run("SELECT pg_switch_wal()" if kind == "kill" else "CHECKPOINT")
        checkpointer = session.checkpointer()
        session.run(stop(scenario, point, kind, nth))
        _, last = session.fails(*steps)
        self.results.check(session.connection.closed, True, f"{what}: the server dies")
        session.wait_for_recovery(checkpointer)
        session.run(*scenario.before)
        if session.run("SELECT count(*) FROM pg_prepared_xacts").fetchone()[0]:
            self.same(self.expected.before, f"{what}: while prepared")
            session.run("COMMIT PREPARED 'stops'")
            return True
        return last == len(steps) - 1 and (point == "transaction.committed" or "PREPARED" in steps[-1])

    def same(self, state, what):
        return self.results.check(self.session.state(), state, what)

    def case(self, point, kind, nth):
        what = f"{point} {nth}: {kind}"
        session, scenario = self.session, self.scenario
        committed = self.die(point, kind, nth, what)
        self.same(self.expected.after if committed else self.expected.before, f"{what}: after recovery")
        self.results.check(session.damage(), None, f"{what}: verify after recovery")
        if not committed:
            session.run(*scenario.again, *scenario.steps_alone)
            self.same(self.expected.after, f"{what}: once more")
            self.results.check(session.damage(), None, f"{what}: verify at the end")


def main():
    results = Results()
    heap = Session("heap")
    heap.run(FIXTURE)
    session = Session("sliced")
    died = set()
    only = sys.argv[1:]

    for scenario in SCENARIOS:
        if only and scenario.name not in only:
            continue
        cases = 0
        expected = model(heap, scenario)
        heap.clean_up(scenario)
        try:
            found = trace(session, scenario, ALONE)
            for point, times in sorted(found.items()):
                if point in died and not FULL:
                    continue
                died.add(point)
                for kind in KINDS:
                    for nth in sorted({1, times} if FULL else {1} if kind == "kill-flushed" else {times}):
                        cases += 1
                        Crashes(session, results, scenario, expected).case(point, kind, nth)
        except psycopg.Error as error:
            results.check(f"{error.sqlstate} {error}", None, "unexpected")
            session.reconnect()
        session.clean_up(scenario)
        heap.reconnect()
        if cases > 0:
            results.end_of(scenario.name, cases)
    print(f"# {len(died)} points, {results.cases} crashes")


main()
