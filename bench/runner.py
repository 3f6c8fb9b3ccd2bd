"""Runs workloads and reports: a table on the terminal, JSON, one SVG per question."""

import argparse
import os
import sys
import time

import workloads, appends, changes, copying, convert, jsonb, arrays     # registers them
import idioms, decoding, aging, apis, cold, crowd, dictionaries, spill, overview
from bench import WORKLOADS, Bench
from goals import GOALS
from plot import plot
from results import Results
from session import Error


def number(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def print_table(results, question):
    variants = results.variants(question)
    print(f"\n{WORKLOADS[question].__doc__}")
    print(f"  {'':41}" + "".join(f"{v:>19}" for v in variants))
    for case in results.cases(question):
        for metric in results.metrics(question, case=case):
            cells = []
            for v in variants:
                if (question, case, v, metric) in results.samples:
                    spread = results.spread(question, case, v, metric)
                    cells.append(number(results.median(question, case, v, metric)) +
                                 (f" ±{spread * 100:2.0f}%" if spread >= 0.005 else "     "))
                else:
                    cells.append("")
            print(f"  {case:26} {metric:>14}" + "".join(f"{c:>19}" for c in cells))


def digits(limit):
    """Behind the point, of what is compared with a limit."""
    return 0 if limit >= 10 else 2 if limit >= 0.1 else 4


def verdict(value, error, limit):
    if round(value, max(2, digits(limit))) <= limit:
        return "yes"
    # or what the machine's other work makes of it?
    return "perhaps" if value - 2 * error <= limit else "NO"


def check_goals(results, questions):
    checked = []
    for question, text, limit, measure in GOALS:
        if question in questions:
            for case, value, error in measure(results):
                checked.append({"goal": text, "case": case, "limit": limit, "measured": round(value, 4),
                                "error": round(error, 4), "met": verdict(value, error, limit)})
    return checked


def main():
    parser = argparse.ArgumentParser(prog="./dev bench")
    parser.add_argument("--quick", action="store_true", help="small, to see that it works")
    parser.add_argument("--list", action="store_true", help="list workloads")
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help="all unless given")
    args = parser.parse_args()
    if args.list:
        for name, function in WORKLOADS.items():
            print(f"{name:10} {function.__doc__}")
        return 0
    for name in args.workloads:
        if name not in WORKLOADS:
            parser.error(f"there is no workload \"{name}\"; ./dev bench --list names them")

    output = os.path.join(os.environ["PGS_ROOT"], "bench", "output")
    os.makedirs(output, exist_ok=True)
    results, done, failed = Results(), [], []
    bench = Bench(results, args.quick)
    about = {"server": bench.session.value("SELECT version()"), "quick": args.quick,
             "rounds": bench.rounds, "cpus": os.cpu_count()}
    for name in args.workloads or WORKLOADS:
        begin = time.monotonic()
        bench.question = name
        try:
            WORKLOADS[name](bench)
        except Error as e:
            print(f"not ok - {name}: {e}", flush=True)
            failed.append(name)
            continue
        done.append(name)
        if not results.curves(name) and not results.metrics(name):
            continue            # it has said why it was skipped
        print_table(results, name)
        draw = getattr(WORKLOADS[name], "draw", plot)
        draw(results, name, WORKLOADS[name].__doc__, os.path.join(output, f"{name}.svg"))
        print(f"ok - {name} ({time.monotonic() - begin:.0f} s)", flush=True)

    about["goals"] = checked = check_goals(results, done)
    print(f"\n{'goal':60}{'case':>29}{'limit':>9}{'measured':>17}  met")
    for g in checked:
        form = f",.{digits(g['limit'])}f"
        error = f"±{g['error']:.{max(2, digits(g['limit']))}f}" if g["error"] else ""
        print(f"{g['goal']:60}{g['case']:>29}{g['limit']:>9{form}}{g['measured']:>9{form}} {error:7}  {g['met']}")
    results.save(os.path.join(output, "results.json"), about)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
