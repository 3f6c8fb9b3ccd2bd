#!/usr/bin/env python3
"""Get the values of sliced tables out of a database whose server has no pg_sliced.

usage: salvage.py            (psql's environment says which database: PGHOST, PGDATABASE ...)

The last resort of docs/recovery.md, for a copy of the database, as superuser.  It
turns all sliced tables into tables of heap in the catalogs, and writes every value
again the way core stores values that are not compressed.  Pointers stay: ours are
core's, of such values.  Then pg_dump works, and nothing else should be done with
the copy: rows do not bear the mark that they have values outside.

docs/format.md describes what is read here.  It takes memory as large as the largest
toast relation, and the libraries of lz4 and zstd.  Checksums are not looked at.
"""

import collections
import ctypes
import struct
import subprocess
import sys

CHUNK = 1996                    # core's, with pages of 8 kB
HEAD, SLICE, CONTINUATION, TAIL, NODE = 1, 2, 3, 4, 5
EXTENT, BELOW, BORROWED, HINTED = 0, 1, 2, 3     # children of nodes
BYTES, NEXT, RUN, LIST = 0, 1, 2, 3      # items of nodes
HAS_DICTIONARY = 0x80

# 'root' is a node, of a head that has one; behind what it names the value goes on at 'own'.
Row = collections.namedtuple("Row", "kind codec continuations rawlen storedlen root own payload")


def psql(*statements, given=None):
    command = ["psql", "-X", "-q", "-A", "-t", "-1", "-v", "ON_ERROR_STOP=1"]
    for statement in ("SET allow_system_table_mods = on",) + statements:
        command += ["-c", statement]
    return subprocess.run(command, input=given, stdout=subprocess.PIPE, check=True, text=True).stdout


def pglz(data, size):
    out = bytearray()
    at = 0
    while len(out) < size:
        control = data[at]
        at += 1
        for bit in range(8):
            if len(out) >= size:
                break
            if control >> bit & 1:
                length = (data[at] & 0x0F) + 3
                offset = (data[at] & 0xF0) << 4 | data[at + 1]
                at += 2
                if length == 18:
                    length += data[at]
                    at += 1
                for _ in range(length):
                    out.append(out[-offset])
            else:
                out.append(data[at])
                at += 1
    return bytes(out)


def lz4(data, size, dictionary):
    out = ctypes.create_string_buffer(size)
    n = ctypes.CDLL("liblz4.so.1").LZ4_decompress_safe_usingDict(data, out, len(data), size, dictionary, len(dictionary))
    return out.raw[:max(n, 0)]


def zstd(data, size, dictionary):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_createDCtx.restype = ctypes.c_void_p
    library.ZSTD_freeDCtx.argtypes = [ctypes.c_void_p]
    library.ZSTD_decompress_usingDict.restype = ctypes.c_size_t
    library.ZSTD_decompress_usingDict.argtypes = [ctypes.c_void_p] + 3 * [ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(size)
    context = library.ZSTD_createDCtx()
    n = library.ZSTD_decompress_usingDict(context, out, size, data, len(data), dictionary, len(dictionary))
    library.ZSTD_freeDCtx(context)
    return out.raw[:n] if n <= size else b""


def decompress(codec, data, size, dictionary):
    raw = (lambda *given: given[0], lambda *given: pglz(*given[:2]), lz4, zstd)[codec](data, size, dictionary)
    if len(raw) != size:
        raise ValueError("a slice cannot be decompressed")
    return raw


def read_row(data):
    version, kind = data[4] >> 4, data[4] & 15
    if version != 1:
        raise ValueError(f"format version {version} is unknown")
    if kind == TAIL:
        payload = data[8:len(data.rstrip(b"\0")) - 5]
        return Row(SLICE, 0, 0, len(payload), len(payload), b"", 0, payload)
    codec, continuations, rawlen, storedlen, _followers = struct.unpack_from("=BHIII", data, 5)
    root, own, at = b"", 0, 20
    if kind == HEAD:
        flags, size, _ascii, own = struct.unpack_from("=HHII", data, 20)
        if flags:
            raise ValueError(f"flags {flags} are unknown")
        at = 32 + size
        root = data[32:at]
    return Row(kind, codec, continuations, rawlen, storedlen, root, own, data[at:])


def read_rows(toast, objid, rows):
    """By number; what cannot be read is missed by the values that need it."""
    result = {}
    for seq, data in rows.items():
        try:
            result[seq] = read_row(data)
        except (ValueError, IndexError, struct.error) as error:
            print(f"{toast}: row {seq} of {objid}: {error}", file=sys.stderr)
    return result


def slice_bytes(rows, seq, value):
    """The raw bytes of the slice whose first row has this number; 'value' gives those of a dictionary."""
    row = rows[seq]
    data = row.payload + b"".join(rows[max(seq, 0) + i].payload for i in range(1, row.continuations + 1))
    dictionary = b""
    if row.codec & HAS_DICTIONARY:
        dictionary = value(struct.unpack_from("=I", data)[0])
        data = data[8:]
    return decompress(row.codec & ~HAS_DICTIONARY, data, row.rawlen, dictionary)


def object_bytes(rows, value):
    """What an object's slices hold, with zeros where there is none; and how far they go."""
    result = bytearray()
    for seq, row in sorted(rows.items()):
        if row.kind == SLICE or row.kind == HEAD and not row.root:
            start = max(seq, 0)
            end = start + row.rawlen
            if end > len(result):
                result.extend(bytes(end - len(result)))
            result[start:end] = slice_bytes(rows, seq, value)
    return bytes(result)


class Numbers:
    """Reads a node."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        number = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def next_signed(self):
        number = self.next()
        return number >> 1 ^ -(number & 1)

    def bytes(self, length):
        self.at += length
        return self.data[self.at - length:self.at]


def moved_list(run, end, phase, delta):
    """Entries of a jsonb container as they are now."""
    low = 0x0FFFFFFF
    result = []
    for (word,) in struct.iter_unpack("=I", run):
        next_end = (word & low) if word >> 31 else (end + (word & low)) & low
        result.append(word & 7 << 28 | (1 << 31 | (next_end + delta) & low if phase == 0 else (next_end - end) & low))
        end, phase = next_end, (phase + 1) % 32
    return struct.pack(f"={len(result)}I", *result)


def node_bytes(objects, contents, objid, node, borrowed=b""):
    """What a node of this object consists of; 'borrowed' is the slice that it may borrow."""
    numbers = Numbers(node)
    first = numbers.next()
    children = []
    for _ in range(first >> 1):
        kind = numbers.next()
        if kind & 3 == BORROWED:
            children.append(borrowed)
            continue
        child = (objid - numbers.next_signed()) & 0xFFFFFFFF
        seq, length = numbers.next_signed(), numbers.next()
        if (kind & 3 == HINTED or kind == BELOW) and numbers.next() > 0:
            numbers.next()      # where it was
        if kind & 3 in (EXTENT, HINTED):
            content = contents(child)[seq:seq + length]
        else:
            content = node_bytes(objects, contents, child, objects[child][seq].payload, borrowed)
        if len(content) != length:
            raise ValueError(f"row {seq} of {child} is too short, or too long")
        children.append(content)
        if first & 1 and len(children) == 1:
            borrowed = content
    result, ends, child = [], [0] * len(children), None
    while numbers.at < len(node):
        length = numbers.next()
        kind, length = length & 3, length >> 2
        if kind == BYTES:
            result.append(numbers.bytes(length))
            continue
        if kind in (RUN, LIST):
            child = numbers.next()
        start = ends[child] + numbers.next()
        ends[child] = start + length
        if ends[child] > len(children[child]):
            raise ValueError("a run is too long")
        run = children[child][start:start + length]
        if kind == LIST:
            run = moved_list(run, numbers.next(), numbers.next(), numbers.next_signed())
        result.append(run)
    return b"".join(result)


def value_bytes(objects, contents, value):
    """The value of this id, which has a head."""
    head = objects[value][-1]
    if not head.root:
        return contents(value)
    return node_bytes(objects, contents, value, head.root) + contents(value)[head.own:]


def line(chunk_id, seq, data):
    return f"{chunk_id}\t{seq}\t\\\\x{data.hex()}\n"


def salvage(toast):
    """Write all values of a toast relation again, as core's."""
    objects = collections.defaultdict(dict)
    for text in psql(f"COPY (SELECT chunk_id, chunk_seq, encode(chunk_data, 'hex') FROM {toast}) TO STDOUT").splitlines():
        chunk_id, seq, data = text.split("\t")
        objects[int(chunk_id)][int(seq)] = bytes.fromhex(data)
    values = [objid for objid, rows in objects.items() if -1 in rows]
    lines, lost = [], 0
    for objid, rows in objects.items():
        # a first row of number 0 is core's
        if -1 not in rows and 0 in rows:
            lines += [line(objid, seq, data) for seq, data in rows.items()]
        else:
            objects[objid] = read_rows(toast, objid, rows)
    known = {}

    def contents(objid):
        if objid not in known:
            if len(known) > 8:
                known.clear()
            known[objid] = object_bytes(objects[objid], lambda id: value_bytes(objects, contents, id))
        return known[objid]

    for value in values:
        try:
            raw = value_bytes(objects, contents, value)
        except (ValueError, KeyError, IndexError, struct.error) as error:
            print(f"{toast}: value {value}: {error}", file=sys.stderr)
            lost += 1
            continue
        lines += [line(value, i // CHUNK, raw[i:i + CHUNK]) for i in range(0, len(raw), CHUNK)]
    # not DELETE: core reads chunks that are deleted, until they are vacuumed
    psql(f"TRUNCATE {toast}", f"COPY {toast} FROM STDIN", given="".join(lines))
    print(f"{toast}: {len(values) - lost} values, {lost} lost")


def main():
    relations = "relam = (SELECT oid FROM pg_am WHERE amname = 'sliced')"
    toasts = psql(f"SELECT oid::regclass FROM pg_class WHERE {relations} AND relkind = 't'").split()
    psql(f"UPDATE pg_class SET relkind = 'r' WHERE {relations} AND relkind = 't'",
         f"UPDATE pg_class SET relam = (SELECT oid FROM pg_am WHERE amname = 'heap') WHERE {relations}")
    for toast in toasts:
        salvage(toast)
    for toast in toasts:
        psql(f"UPDATE pg_class SET relkind = 't' WHERE oid = '{toast}'::regclass")


if __name__ == "__main__":
    main()
