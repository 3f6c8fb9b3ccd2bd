"""Real JSON of 1 to 10 kB, and of any length, with dictionaries and without."""

import json
import os
import tarfile

from apis import PACKAGE, descriptions, download
from bench import HEAP_LZ4, MB, SLICED_LZ4, SLICED_ZSTD, Variant, workload

TRAINED = [Variant(f"{v.name} trained", "sliced", f"{v.codec}_trained", v.settings) for v in (SLICED_LZ4, SLICED_ZSTD)]
FIVE = [SLICED_LZ4, SLICED_ZSTD] + TRAINED + [HEAP_LZ4]

QUERIES = {"as text": "SELECT sum(length(doc::text)) FROM {}",
           "one key": "SELECT count(doc->>'description') FROM {}"}


def features(package):
    with tarfile.open(package) as tar:
        for member in tar:
            if "/features-json/" in member.name and member.name.endswith(".json"):
                yield member.name, tar.extractfile(member).read().decode()


def entries(package):
    def found(node, path):
        if "__compat" in node:
            yield path, json.dumps(node["__compat"])
        for key, value in node.items():
            if isinstance(value, dict) and key not in ("__compat", "browsers"):
                yield from found(value, f"{path}.{key}")

    with tarfile.open(package) as tar:
        yield from found(json.load(tar.extractfile("package/data.json")), "")


def operations(package):
    with tarfile.open(package) as tar:
        yield from paths(tar, "package/generated/api.github.com.json")


def editions(package):
    """Of the API's other editions as well."""
    with tarfile.open(package) as tar:
        for member in tar.getnames():
            if "/generated/" in member and member.endswith(".json") and not member.endswith(".deref.json"):
                yield from paths(tar, member)


def paths(tar, member):
    for path, methods in json.load(tar.extractfile(member))["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", json.dumps(operation)


# The same features at nine times.
CANIUSE = [f"caniuse-db@1.0.3000{version}" for version in (1813, 1811, 1809, 1807, 1805, 1803, 1799, 1797, 1795)]

# What it is, the packages, their documents, toast_tuple_target if not the default.  Of features there
# are 2 MB, as heap stores them, or 17; of operations 2 MB or 10.
DOCUMENTS = [("caniuse features", CANIUSE[:1], features, None),
             ("browser-compat entries, target 128", ["@mdn/browser-compat-data@8.1.9"], entries, 128),
             ("caniuse features, target 128", CANIUSE[:1], features, 128),
             ("caniuse nine times", CANIUSE, features, None),
             ("caniuse nine times, target 128", CANIUSE, features, 128),
             ("GitHub operations, target 128", ["@octokit/openapi@23.0.2"], operations, 128),
             ("GitHub editions, target 128", ["@octokit/openapi@23.0.2"], editions, 128),
             ("API descriptions", [PACKAGE], descriptions, None)]


@workload
def dictionaries(b):
    """Real documents with a dictionary and without"""
    for name, packages, documents, target in b.scale(DOCUMENTS, DOCUMENTS[:2]):
        archives = [download(os.environ["PGS_TMP"], package) for package in packages]
        if None in archives:
            print(f"# skipped: npm cannot get {packages[archives.index(None)]}")
            continue
        path = b.copy_file(f"documents {len(packages)} {documents.__name__}", (row for archive in archives for row in sorted(documents(archive))))
        for v in FIVE:
            b.create(v, "documents", "name text, doc jsonb")
            if target:
                b.session.run(f"ALTER TABLE {v.table('documents')} SET (toast_tuple_target = {target})")
            b.session.run(f"COPY {v.table('documents')} FROM '{path}'")
            if v in TRAINED:
                b.session.run(f"SELECT * FROM sliced.train('{v.table('documents')}')")
            # all variants, so that all are as compact as can be
            b.session.run(f"VACUUM FULL {v.table('documents')}")
            b.session.run(f"VACUUM ANALYZE {v.table('documents')}")
            b.add(f"{name}, size", v, "MB", b.size(v.table("documents")) / MB)
        for query, sql in QUERIES.items():
            b.same(FIVE, "documents", sql)
            b.time_query(f"{name}, {query}", FIVE, "documents", sql, rounds=b.scale(9, 3))
        b.verify(FIVE, "documents")
        b.drop(FIVE, "documents")
