"""Makes a failing script short: fewer statements, then fewer lines in functions."""
import copy
import time


def without_chunks(items, fails, deadline):
    """The items that are needed for 'fails' to be true: halves first, then ever smaller chunks."""
    size = max(1, len(items) // 2)
    while size >= 1:
        start, removed = 0, False
        while start < len(items) and time.monotonic() < deadline:
            shorter = items[:start] + items[start + size:]
            if fails(shorter):
                items, removed = shorter, True
            else:
                start += size
        if time.monotonic() >= deadline:
            return items
        if size > 1:
            size //= 2
        elif not removed:
            return items
    return items


def without_sessions(items, fails):
    for number in sorted({number for number, _ in items}, reverse=True):
        shorter = [item for item in items if item[0] != number]
        if fails(shorter):
            items = shorter
    return items


def bodies(node):
    """All lists of nodes in a statement: see bodies.py."""
    if isinstance(node, list):
        for part in node:
            if isinstance(part, list):
                yield part
                for inner in part:
                    yield from bodies(inner)


def candidates(statement):
    """The statement with one node of one body removed, or replaced by what is in it."""
    root = [None, [statement]]
    count = sum(len(body) for body in bodies(root))
    for place in range(1, count):
        for hoist in (False, True):
            new = copy.deepcopy(root)
            position = place
            for body in bodies(new):
                if position < len(body):
                    node = body[position]
                    if hoist and isinstance(node, str):
                        break
                    inner = [child for part in node if isinstance(part, list) for child in part] if hoist else []
                    body[position:position + 1] = inner
                    yield new[1][0]
                    break
                position -= len(body)


def within_functions(items, fails, deadline):
    again = True
    while again:
        again = False
        for index, (number, statement) in enumerate(items):
            if isinstance(statement, str):
                continue
            for shorter in candidates(statement):
                if time.monotonic() >= deadline:
                    return items
                changed = items[:index] + [(number, shorter)] + items[index + 1:]
                if fails(changed):
                    items, again = changed, True
                    break
    return items


def shrink(items, fails, seconds):
    deadline = time.monotonic() + seconds
    items = without_sessions(items, fails)
    items = without_chunks(items, fails, deadline)
    items = within_functions(items, fails, deadline)
    return without_chunks(items, fails, deadline)
