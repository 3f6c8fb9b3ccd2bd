"""Plugin of pytest: write how each test ended to the file VERDICTS, a line each."""
import os

import pytest

file = None


def pytest_configure(config):
    global file
    # with several workers only the process that they report to
    if not hasattr(config, "workerinput"):
        file = open(os.environ["VERDICTS"], "w", encoding="utf-8", buffering=1)


@pytest.hookimpl(trylast=True)
def pytest_runtest_logreport(report):
    if file and (report.when == "call" or not report.passed):
        file.write(f"{report.outcome}\t{report.nodeid}\n")


def pytest_collectreport(report):
    if file and report.failed:
        file.write(f"failed\t{report.nodeid}\n")
