"""What was measured: samples by question, case, variant and metric, and curves, which have samples for each x."""

import json
import math
import statistics


def named(key):
    return dict(zip(("question", "case", "variant", "metric"), key))


class Results:
    def __init__(self):
        self.samples = {}
        self.points = {}

    def add(self, question, case, variant, metric, value):
        self.samples.setdefault((question, case, variant, metric), []).append(value)

    def add_point(self, question, case, variant, metric, x, value):
        self.points.setdefault((question, case, variant, metric), {}).setdefault(x, []).append(value)

    def curves(self, question):
        """By (case, variant, metric): lists of (x, median)."""
        return {key[1:]: [(x, statistics.median(values)) for x, values in sorted(points.items())]
                for key, points in self.points.items() if key[0] == question}

    def median(self, question, case, variant, metric):
        return statistics.median(self.samples[question, case, variant, metric])

    def spread(self, question, case, variant, metric):
        """Half the distance between the quartiles, relative to the median."""
        values = sorted(self.samples[question, case, variant, metric])
        middle = statistics.median(values)
        if len(values) < 4 or not middle:
            return 0.0
        quartiles = statistics.quantiles(values, n=4)
        return (quartiles[2] - quartiles[0]) / 2 / middle

    def ratio(self, numerator, denominator):
        """The ratio of two medians and its likely error; both are (question, case, variant, metric)."""
        value, variance = self.median(*numerator) / self.median(*denominator), 0
        for key in numerator, denominator:
            # A normal distribution's quartiles are 0.67 sigma from the median,
            # and the median of n samples is off by 1.25 sigma / sqrt(n).
            variance += (self.spread(*key) / 0.67 * 1.25) ** 2 / len(self.samples[key])
        return value, value * math.sqrt(variance)

    def names(self, question, index, **fixed):
        """The different questions (0), cases (1), variants (2) or metrics (3), in order."""
        found = {}
        for key in self.samples:
            if key[0] == question and all(named(key)[k] == v for k, v in fixed.items()):
                found[key[index]] = True
        return [*found]

    def cases(self, question, **fixed):
        return self.names(question, 1, **fixed)

    def variants(self, question, **fixed):
        return self.names(question, 2, **fixed)

    def metrics(self, question, **fixed):
        return self.names(question, 3, **fixed)

    def save(self, path, about):
        rows = [dict(named(key), median=statistics.median(values), spread=round(self.spread(*key), 4),
                     samples=[round(value, 4) for value in values])
                for key, values in self.samples.items()]
        curves = [dict(named(key), points={x: [round(value, 4) for value in values]
                                           for x, values in sorted(points.items())})
                  for key, points in self.points.items()]
        with open(path, "w") as f:
            json.dump({"about": about, "results": rows, "curves": curves}, f, indent=1)
            f.write("\n")
