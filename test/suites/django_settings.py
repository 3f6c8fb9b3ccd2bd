"""Settings for Django's own tests: two databases of the server that PGHOST names."""
import os
import unittest

from django.test.runner import DiscoverRunner


def database(name):
    return {"ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
            "USER": os.environ["PGUSER"], "NAME": name}


DATABASES = {"default": database("one"), "other": database("two")}
SECRET_KEY = "tests"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "django_settings.Runner"


class Result(unittest.TextTestResult):
    """Writes how each test ended to the file VERDICTS, a line each."""

    def write(self, verdict, test):
        with open(os.environ["VERDICTS"], "a", encoding="utf-8") as file:
            file.write(f"{verdict}\t{test.id()}\n")

    def addSuccess(self, test):
        super().addSuccess(test)
        self.write("passed", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.write("failed", test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.write("failed", test)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.write("failed", subtest)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.write("skipped", test)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.write("expected", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.write("unexpected", test)


class Runner(DiscoverRunner):
    def get_resultclass(self):
        return Result
