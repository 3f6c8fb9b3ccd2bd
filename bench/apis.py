"""Real JSON: the descriptions of web APIs that an npm package has, from 100 bytes to megabytes each."""

import os
import subprocess
import tarfile

from bench import HEAP_LZ4, MB, SLICED_LZ4, SLICED_ZSTD, per, workload

THREE = [SLICED_LZ4, SLICED_ZSTD, HEAP_LZ4]
PACKAGE = "aws-sdk@2.1693.0"

QUERIES = {"one key": "SELECT count(doc->'metadata'->>'serviceId') FROM {}",
           "all keys": "SELECT count(e.value) FROM {}, jsonb_each(doc) e",
           "as text": "SELECT sum(length(doc::text)) FROM {}",
           "compared": "SELECT count(*) FROM {} WHERE doc > '0'"}


def download(folder, package=PACKAGE):
    """The package as a file, or None if it cannot be had."""
    try:
        done = subprocess.run(["npm", "pack", "--silent", "--prefer-offline", package],
                              cwd=folder, capture_output=True, text=True, timeout=600)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return os.path.join(folder, done.stdout.split()[-1]) if done.returncode == 0 else None


def descriptions(package):
    """Names and contents."""
    with tarfile.open(package) as tar:
        for member in tar:
            folder, name = os.path.split(member.name)
            if folder == "package/apis" and name.endswith(".json"):
                yield name, tar.extractfile(member).read().decode()


@workload
def apis(b):
    """Descriptions of web APIs as jsonb"""
    package = download(os.environ["PGS_TMP"])
    if not package:
        print(f"# skipped: npm cannot get {PACKAGE}")
        return
    path = b.copy_file("apis", sorted(descriptions(package))[::b.scale(1, 4)])
    for v in THREE:
        b.create(v, "apis", "name text, doc jsonb")

    def load(v):
        table = v.table("apis")
        b.session.run(f"TRUNCATE {table}")
        return {**b.session.with_wal(f"COPY {table} FROM '{path}'"), "MB": b.size(table) / MB}

    b.interleave("COPY", THREE, load, rounds=b.scale(5, 3))
    b.verify(THREE, "apis")
    for v in THREE:
        b.session.run(f"VACUUM ANALYZE {v.table('apis')}")
    for name, query in QUERIES.items():
        b.same(THREE, "apis", query)
        b.time_query(name, THREE, "apis", query, rounds=b.scale(5, 3))
    set_version(b)
    b.drop(THREE, "apis")


def set_version(b):
    """A key of each description set, all in one transaction: what one takes."""
    rows = b.session.number(f"SELECT count(*) FROM {THREE[0].table('apis')} WHERE name LIKE '%.min.json'")
    versions = {v: 0 for v in THREE}

    def update(v):
        versions[v] += 1
        costs = b.session.costs(f"UPDATE {v.table('apis')} SET doc = jsonb_set(doc, '{{metadata,apiVersion}}', "
                                f"'\"version {versions[v]}\"') WHERE name LIKE '%.min.json'")
        b.session.run(f"VACUUM {v.table('apis')}")
        return per(rows, costs)

    b.interleave("jsonb_set", THREE, update, rounds=b.scale(5, 3))
    b.verify(THREE, "apis")
    b.same(THREE, "apis", "SELECT sum(hashtextextended(doc::text, 0)) FROM {}")
