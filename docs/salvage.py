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
HEAD, SLICE, CONTINUATION, TAIL, PATCHES = 1, 2, 3, 4, 5
HAS_DICTIONARY, IS_PATCHED = 0x80, 1

Row = collections.namedtuple("Row", "kind codec parts rawlen storedlen pieces patches payload")

# Of a value: where places of objects begin, layers from the newest, and patches in the head.
Patched = collections.namedtuple("Patched", "bases layers own")


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


def read_patches(data, place):
    """(place, bytes) of each, where the first gap counts from 'place'."""
    at = 0
    while at < len(data):
        gap = shift = 0
        while True:
            gap |= (data[at] & 127) << shift
            shift += 7
            at += 1
            if data[at - 1] < 128:
                break
        place += gap
        length = data[at]
        yield place, data[at + 1:at + 1 + length]
        place += length
        at += 1 + length


def read_patch_table(data):
    """And how long it is."""
    length, nobjects, nlayers, _end = struct.unpack_from("=HBBI", data)
    pairs = [struct.unpack_from("=II", data, 8 + 8 * i) for i in range(nobjects + nlayers)]
    own = data[8 + 8 * len(pairs):length]
    return Patched(pairs[:nobjects], [layer for layer, _ in pairs[nobjects:]], list(read_patches(own, 0))), length


def read_row(data):
    version, kind = data[4] >> 4, data[4] & 15
    if version != 1:
        raise ValueError(f"format version {version} is unknown")
    if kind == TAIL:
        payload = data[8:len(data.rstrip(b"\0")) - 5]
        return Row(SLICE, 0, 0, len(payload), len(payload), (), None, payload)
    codec, parts, rawlen, storedlen, _followers = struct.unpack_from("=BHIII", data, 5)
    pieces, patches, at = (), None, 20
    if kind == HEAD:
        npieces = struct.unpack_from("=H", data, 22)[0]
        at = 32 + 12 * npieces
        pieces = tuple(struct.unpack_from("=III", data, 32 + 12 * i) for i in range(npieces))
        if data[20] & ~IS_PATCHED:
            raise ValueError(f"flags {data[20]} are unknown")
        if data[20] & IS_PATCHED:
            patches, length = read_patch_table(data[at:])
            at += length
    return Row(kind, codec, parts, rawlen, storedlen, pieces, patches, data[at:])


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
    data = row.payload + b"".join(rows[max(seq, 0) + i].payload for i in range(1, row.parts + 1))
    dictionary = b""
    if row.codec & HAS_DICTIONARY:
        dictionary = value(struct.unpack_from("=I", data)[0])
        data = data[8:]
    return decompress(row.codec & ~HAS_DICTIONARY, data, row.rawlen, dictionary)


def object_bytes(rows, value):
    """What an object's slices hold, with zeros where there is none; and how far they go."""
    result = bytearray()
    for seq, row in sorted(rows.items()):
        if row.kind == SLICE or row.kind == HEAD and not row.pieces:
            start = max(seq, 0)
            end = start + row.rawlen
            if end > len(result):
                result.extend(bytes(end - len(result)))
            result[start:end] = slice_bytes(rows, seq, value)
    return bytes(result)


def patched_bytes(objects, contents, patched):
    """The objects that a value patches, as it has them."""
    result = {objid: bytearray(contents(objid)) for objid, _ in patched.bases}
    patches = []
    for layer in reversed(patched.layers):
        for seq, row in sorted(objects[layer].items()):
            patches += read_patches(row.payload[4:], seq - 1)
    for place, new in patches + patched.own:
        objid, base = max((pair for pair in patched.bases if pair[1] <= place), key=lambda pair: pair[1])
        at = place - base
        result[objid][at:at + len(new)] = new[:max(0, len(result[objid]) - at)]
    return result


def value_bytes(objects, contents, value):
    """The value of this id, which has a head."""
    head = objects[value][-1]
    own = contents(value)
    if not head.pieces:
        return own
    inline = slice_bytes(objects[value], -1, lambda objid: value_bytes(objects, contents, objid))
    patched = patched_bytes(objects, contents, head.patches) if head.patches else {}
    result, next_own = [], 1
    for objid, start, length in head.pieces:
        source = inline if objid == 0 else patched.get(objid) or contents(objid)
        if start + length > len(source):
            raise ValueError(f"object {objid} is too short")
        result.append(source[start:start + length])
        if objid == value:
            next_own = max(next_own, start + length)
    return b"".join(result) + own[next_own:]


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
