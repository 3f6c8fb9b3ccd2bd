#!/usr/bin/python3
"""The checker on histories that were made by hand: each anomaly has a name, and levels that allow it."""
from array import array

from checker import ABORTED, COMMITTED, FOLLOWER, READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE, UNKNOWN, Checker, Transaction

RC, RR, SER = READ_COMMITTED, REPEATABLE_READ, SERIALIZABLE


def a(row, number, version, *columns):
    return "append", row, columns or ("t",), number, version


def r(row, version, *numbers, start=0, to_end=True):
    return "read", row, "t", version, start, array("i", numbers), to_end


S, UNDO = ("savepoint", 0), ("undo", 0)


def history(level, *sessions):
    """A session is a list of transactions; these are lists of operations, and may begin with a status or level."""
    result = []
    for number, session in enumerate(sessions):
        result.append([])
        for ops in session:
            words = [op for op in ops if isinstance(op, str)]
            t = Transaction(number, level, COMMITTED, [op for op in ops if not isinstance(op, str)])
            for word in words:
                if word in (ABORTED, COMMITTED, UNKNOWN):
                    t.status = word
                else:
                    t.level = word
            result[-1].append(t)
    return result


def end(**rows):
    """The end: x1=[5, 6] is row 1 with two versions; (3, [5, 6]) says another number of versions."""
    result = {}
    for name, numbers in rows.items():
        version, numbers = numbers if isinstance(numbers, tuple) else (len(numbers), numbers)
        result[int(name[1:])] = version, {"t": array("i", numbers), "u": array("i")}
    return result


# name, what the checker must say at each level (nothing: None), the sessions, the end
CASES = [
    ("nothing wrong", None, [[[a(1, 5, 1), r(1, 1, 5)], [r(1, 2, 5, 6)]], [[a(1, 6, 2)]]], end(x1=[5, 6])),
    ("nothing wrong, in parts", None, [[[r(1, 2, 6, start=1), r(1, 2, 5, to_end=False), a(1, 7, 3), r(1, 3, 7, start=2), r(1, 3, start=3)]],
                                       [[a(1, 5, 1)], [a(1, 6, 2)]]], end(x1=[5, 6, 7])),
    ("an append is lost at the end", "lost append", [[[a(1, 5, 1)], [a(1, 6, 2)]]], end(x1=(2, [6]))),
    ("with its version", "lost append", [[[a(1, 5, 1)], [a(1, 6, 2)]]], end(x1=(1, [5]))),
    ("in a read", "lost append", [[[a(1, 5, 1)], [a(1, 6, 2)]], [[r(1, 2, 6)]]], end(x1=[5, 6])),
    ("in a part", "lost append", [[[a(1, 5, 1)], [a(1, 6, 2)]], [[r(1, 2, start=1)]]], end(x1=[5, 6])),
    ("on a follower", "lost append", [[[a(1, 5, 1)], [a(1, 6, 2)]], [[FOLLOWER, r(1, 2, 6)]]], end(x1=[5, 6])),
    ("an append is doubled at the end", "doubled append", [[[a(1, 5, 1)]]], end(x1=(1, [5, 5]))),
    ("in a read", "doubled append", [[[a(1, 5, 1)]], [[r(1, 1, 5, 5)]]], end(x1=[5])),
    ("appends are reordered", "reordered appends", [[[a(1, 5, 1)], [a(1, 6, 2)]]], end(x1=(2, [6, 5]))),
    ("in a read", "reordered appends", [[[a(1, 5, 1)], [a(1, 6, 2)]], [[r(1, 2, 6, 5)]]], end(x1=[5, 6])),
    ("a read is ahead of its version", "reordered appends", [[[a(1, 5, 1)], [a(1, 6, 2)]], [[r(1, 1, 5, 6)]]], end(x1=[5, 6])),
    ("a number that nobody appended", "unknown number", [[[a(1, 5, 1)]]], end(x1=(1, [5, 9]))),
    ("two transactions change one version", "lost update", [[[r(1, 0), a(1, 5, 1)]], [[r(1, 0), a(1, 6, 1)]]], end(x1=(1, [6]))),
    ("an aborted append is read", "aborted read", [[[ABORTED, a(1, 5, 1)]], [[r(1, 1, 5)]], [[a(1, 6, 1)]]], end(x1=[6])),
    ("an aborted append is kept", "aborted read", [[[ABORTED, a(1, 5, 1)], [a(1, 6, 1)]]], end(x1=(1, [5, 6]))),
    ("an undone append is read", "aborted read", [[[S, a(1, 5, 1), UNDO, a(1, 6, 1)]], [[r(1, 1, 5, 6)]]], end(x1=[6])),
    ("an undone append is kept", "aborted read", [[[S, a(1, 5, 1), UNDO, a(1, 6, 1)]]], end(x1=(1, [5, 6]))),
    ("an aborted version alone", "aborted read", [[[ABORTED, a(1, 5, 1)]], [[r(1, 1, start=0)]]], end(x1=[])),
    ("a transaction sees what it has undone", "own append missed", [[[S, a(1, 5, 1), UNDO, r(1, 0, 5)]]], end(x1=[])),
    ("a transaction sees what it has not undone", None, [[[a(1, 4, 1), S, a(1, 5, 2), r(1, 2, 4, 5), UNDO, r(1, 1, 4), a(1, 6, 2), r(1, 2, 4, 6)]]], end(x1=[4, 6])),
    ("it misses its own append", "own append missed", [[[a(1, 5, 1), r(1, 0)]]], end(x1=[5])),
    ("it misses the content only", "own append missed", [[[a(1, 5, 1), r(1, 1)]]], end(x1=[5])),
    ("it appends to a version before its own", "lost update", [[[a(1, 5, 1), a(1, 6, 1)]]], end(x1=(1, [6]))),
    ("an intermediate version is read", "intermediate read", [[[a(1, 5, 1), a(1, 6, 2)]], [[r(1, 1, 5)]]], end(x1=[5, 6])),
    ("a lost answer: committed", None, [[[UNKNOWN, a(1, 5, 1), a(2, 6, 1)]], [[r(1, 1, 5)]]], end(x1=[5], x2=[6])),
    ("a lost answer: not committed", None, [[[UNKNOWN, a(1, 5, 1)]], [[r(1, 0)]]], end(x1=[])),
    ("a lost answer: half of it", "partly committed", [[[UNKNOWN, a(1, 5, 1), a(2, 6, 1)]]], end(x1=[5], x2=[])),
    ("a lost answer: seen, then gone", "aborted read", [[[UNKNOWN, a(1, 5, 1)]], [[r(1, 1, 5)]]], end(x1=[])),
    ("a session goes back", "went back", [[[a(1, 5, 1)]], [[r(1, 1, 5)], [r(1, 0)]]], end(x1=[5])),
    ("it does not see what it has committed", "went back", [[[a(1, 5, 1)], [r(1, 0)]]], end(x1=[5])),
    ("a read that does not repeat", {RR: "read skew", SER: "read skew"}, [[[r(1, 0), r(1, 1, 5)]], [[a(1, 5, 1)]]], end(x1=[5])),
    ("dirty writes", "dirty writes", [[[a(1, 5, 1), a(2, 6, 2)]], [[a(2, 7, 1), a(1, 8, 2)]]], end(x1=[5, 8], x2=[7, 6])),
    ("two see each other", "cyclic information flow", [[[a(1, 5, 1), r(2, 1, 6)]], [[a(2, 6, 1), r(1, 1, 5)]]], end(x1=[5], x2=[6])),
    ("one row of two", {RR: "read skew", SER: "read skew"}, [[[r(1, 0), r(2, 1, 6)]], [[a(1, 5, 1), a(2, 6, 1)]]], end(x1=[5], x2=[6])),
    ("one row of two, backwards", "read skew", [[[r(1, 1, 5), r(2, 0)]], [[a(1, 5, 1), a(2, 6, 1)]]], end(x1=[5], x2=[6])),
    ("an append to a version behind the snapshot", {RR: "read skew", SER: "read skew"}, [[[r(2, 0), a(1, 7, 2)]], [[a(1, 5, 1), a(2, 6, 1)]]], end(x1=[5, 7], x2=[6])),
    ("two readers see two orders", "long fork", [[[a(1, 5, 1)]], [[a(2, 6, 1)]], [[r(1, 1, 5), r(2, 0)]], [[r(2, 1, 6), r(1, 0)]]], end(x1=[5], x2=[6])),
    ("write skew", {SER: "write skew"}, [[[r(1, 0), a(2, 6, 1)]], [[r(2, 0), a(1, 5, 1)]]], end(x1=[5], x2=[6])),
    ("write skew, and a reader", {SER: "write skew"}, [[[r(1, 0), r(2, 0), a(1, 5, 1)]], [[a(2, 6, 1)]], [[r(2, 1, 6), r(1, 0)]]], end(x1=[5], x2=[6])),
    ("write skew of three", {SER: "write skew"}, [[[r(1, 0), a(2, 6, 1)]], [[r(2, 0), a(3, 7, 1)]], [[r(3, 0), a(1, 5, 1)]]], end(x1=[5], x2=[6], x3=[7])),
    ("write skew with a transaction of another level", {}, [[[r(1, 0), a(2, 6, 1)]], [[RR, r(2, 0), a(1, 5, 1)]]], end(x1=[5], x2=[6])),
    ("write skew across one of another level", {SER: "write skew"}, [[[r(1, 0), a(2, 6, 1)]], [[r(2, 0), a(1, 5, 1)], [r(2, 2, 6, 8)]], [[RC, a(2, 8, 2)]]], end(x1=[5], x2=[6, 8])),
    ("write skew that was rolled back", {}, [[[r(1, 0), a(2, 6, 1)]], [[ABORTED, r(2, 0), a(1, 5, 1)]]], end(x1=[], x2=[6])),
]


def main():
    tested = 0
    for name, says, sessions, final in CASES:
        for level in (RC, RR, SER):
            expected = says.get(level) if isinstance(says, dict) else says
            problems = Checker(history(level, *sessions), final).check()
            got = problems[0][0] if problems else None
            if got != expected:
                print(f"not ok - {name}, {level}: {got} for {expected}\n# {problems}")
                return False
            tested += 1
    print(f"ok - the checker judges {tested} histories made by hand")
    return True


if __name__ == "__main__":
    raise SystemExit(not main())
