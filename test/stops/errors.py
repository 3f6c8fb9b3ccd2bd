"""Errors at every stop point: the statement fails, the session goes on, and nothing has changed.

Each point that a scenario reaches, the first time that it does and a late one (FULL=1:
the second as well), in each of these modes (in the latter two the late time only),
with the kinds of errors in turn (FULL=1: all):

  alone      the statement, or transaction, fails by itself
  savepoint  behind other changes of the same rows, and is rolled back to a savepoint
  block      in a block of PL/pgSQL that handles the error and tries again
"""
import itertools

from harness import *


class Errors:
    def __init__(self, session, results, scenario, expected):
        self.session = session
        self.results = results
        self.scenario = scenario
        self.expected = expected

    def same(self, state, what):
        return self.results.check(self.session.state(), state, what)

    def sound(self, what):
        self.results.check(self.session.damage(), None, what)

    def failed(self, point, action, nth, what, steps):
        """Run the steps, which fail as ordered.  Returns whether they have to be taken back."""
        session = self.session
        session.run(stop(self.scenario, point, action, nth))
        error, step = session.fails(*steps)
        if error is not None or not self.scenario.may_warn(point, action):
            self.results.check(error, ERRORS[action], f"{what}: SQLSTATE")
        if session.connection.closed:
            session.connect()
            session.run(*self.scenario.before)
        # the statement itself is no transaction that could fail
        return not steps[min(step, len(steps) - 1)].startswith("COMMIT PREPARED")

    def alone(self, point, action, nth, what):
        session, scenario = self.session, self.scenario
        session.prepare(scenario)
        failed = self.failed(point, action, nth, what, scenario.steps_alone)
        session.run("ROLLBACK", "RESET sliced.stop_at")
        self.same(self.expected.before if failed else self.expected.after, f"{what}: after the error")
        self.sound(f"{what}: verify after the error")
        if not failed:
            return
        session.run(*scenario.again)
        session.run(*scenario.steps_alone)
        self.same(self.expected.after, f"{what}: once more")
        self.sound(f"{what}: verify at the end")

    def savepoint(self, point, action, nth, what):
        session, scenario = self.session, self.scenario
        session.prepare(scenario)
        session.run("BEGIN", EARLIER, "SAVEPOINT s")
        self.failed(point, action, nth, what, scenario.steps)
        session.run("ROLLBACK TO s")
        self.same(self.expected.earlier, f"{what}: after the error")
        session.run(*scenario.steps)
        self.same(self.expected.later, f"{what}: once more")
        session.run("COMMIT")
        self.same(self.expected.later, f"{what}: after commit")
        self.sound(f"{what}: verify at the end")

    def block(self, point, action, nth, what):
        session, scenario = self.session, self.scenario
        session.prepare(scenario)
        session.run(stop(scenario, point, action, nth), block(scenario.steps))
        session.run("RESET sliced.stop_at")
        self.same(self.expected.after, f"{what}: at the end")
        self.sound(f"{what}: verify at the end")


def main():
    may_fail = points()
    results = Results()
    heap = Session("heap")
    heap.run(FIXTURE)
    session = Session("sliced")
    turns = {mode: itertools.cycle(action for action in ERRORS if mode == ALONE or action != "terminate")
             for mode in (ALONE, SAVEPOINT, BLOCK)}
    reached = set()
    only = sys.argv[1:]

    for scenario in SCENARIOS:
        if only and scenario.name not in only:
            continue
        cases = 0
        expected = model(heap, scenario)
        heap.clean_up(scenario)
        run = Errors(session, results, scenario, expected)
        try:
            for mode in scenario.modes:
                found = trace(session, scenario, mode)
                reached |= set(found)
                for point, times in sorted(found.items()):
                    for nth in sorted({1, min(times, 2), times} if FULL else {1, times} if mode == ALONE else {times}):
                        for action in list(ERRORS) if FULL else [next(turns[mode])]:
                            if may_fail[point] and (mode == ALONE or action != "terminate"):
                                cases += 1
                                getattr(run, mode)(point, action, nth, f"{mode}, {point} {nth}: {action}")
        except psycopg.Error as error:
            results.check(f"{error.sqlstate} {error}", None, "unexpected")
            session.reconnect()
        session.clean_up(scenario)
        results.end_of(scenario.name, cases)

    missing = [point for point in may_fail if point not in reached and point not in UNREACHABLE]
    if not only:
        print(f"{'not ok' if missing else 'ok'} - {len(may_fail)} stop points: some scenario reaches each")
    for point in missing:
        print(f"# no scenario reaches {point}")
    print(f"# {len(SCENARIOS)} scenarios, {results.cases} errors")


main()
