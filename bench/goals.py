"""What pg_sliced has to reach, as ratios measured in one run: value <= limit is met."""

TIME, SIZE, BUFFERS = "cpu ms", "MB", "buffers"


def ratios(question, variant, base, metric, only=lambda case: True):
    """The ratio of one variant to another, in each case of a question."""
    def measure(results):
        return [(case, *results.ratio((question, case, variant, metric), (question, case, base, metric)))
                for case in results.cases(question, variant=variant, metric=metric) if only(case)]
    return measure


def absolute(question, variant, metric, only=lambda case: True):
    def measure(results):
        return [(case, results.median(question, case, variant, metric), 0)
                for case in results.cases(question, variant=variant, metric=metric) if only(case)]
    return measure


def past_to_below(results):
    """A key of documents just past 2 kB, to one of those just below, both ours."""
    return [(past, *results.ratio(("cliff", past, "sliced lz4", TIME), ("cliff", below, "sliced lz4", TIME)))
            for past, below in (("past", "below"), ("compressed past", "compressed below"))]


def contains(*parts):
    return lambda case: any(part in case for part in parts)


# question, goal, limit, function of the results that returns (case, value, likely error)
GOALS = [
    ("cliff", "key of 10,000 jsonb just past 2 kB: buffers", 10100,
     absolute("cliff", "sliced lz4", BUFFERS, lambda case: case in ("past", "compressed past"))),
    ("cliff", "key of jsonb just past 2 kB / just below: time", 1.5, past_to_below),
    ("cliff", "narrow scan of rows just past 2 kB, sliced / heap: time", 1.5,
     ratios("cliff", "sliced lz4", "heap lz4", TIME, contains("count(*)", "sum(id)"))),
    ("slices", "100 bytes in the middle of a compressed value: buffers", 20,
     absolute("slices", "sliced lz4", BUFFERS)),
    ("slices", "100 bytes in the middle, zstd: buffers", 20,
     absolute("slices", "sliced zstd", BUFFERS)),
    ("read", "full read, sliced lz4 / heap lz4: time", 1.0,
     ratios("read", "sliced lz4", "heap lz4", TIME)),
    ("read", "full read, sliced zstd / heap pglz: time", 1.0,
     ratios("read", "sliced zstd", "heap pglz", TIME)),
    ("load", "bulk load, sliced lz4 / heap lz4: time", 0.9,
     ratios("load", "sliced lz4", "heap lz4", TIME)),
    ("sizes", "size on disk, sliced lz4 / heap lz4", 1.10,
     ratios("sizes", "sliced lz4", "heap lz4", SIZE)),
    ("sizes", "size on disk, sliced zstd / heap lz4", 0.80,
     ratios("sizes", "sliced zstd", "heap lz4", SIZE)),
    ("pays", "where compression hardly pays, sliced / heap lz4: time", 0.80,
     ratios("pays", "sliced lz4", "heap lz4", TIME, lambda case: case in "123")),
    ("pays", "where compression hardly pays, sliced / heap lz4: size", 1.02,
     ratios("pays", "sliced lz4", "heap lz4", SIZE)),
    ("narrow", "count(*), sliced / heap: time", 1.05,
     ratios("narrow", "sliced", "heap", TIME, contains("short rows, count"))),
    ("narrow", "narrow scan, sliced / heap: time", 1.02,
     ratios("narrow", "sliced", "heap", TIME, contains("short rows, sum"))),
    ("short", "no oversized values, sliced / heap: time", 1.02,
     ratios("short", "sliced", "heap", TIME)),
    ("oltp", "pgbench, sliced / heap: time", 1.02,
     ratios("oltp", "sliced", "heap", "us")),
    ("planning", "planning without our tables, library loaded / not: time", 1.02,
     ratios("planning", "loaded", "not loaded", "cpu us")),
]
