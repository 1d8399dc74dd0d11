#!/usr/bin/env python3
"""Says whether the rows that a JSON patch touches are as they were before it, or as it leaves them.

  guard.py PATCH RUNNING     RUNNING: output of `sonic-cfggen -d --print-data`, or -

Prints "before", "after" or "drift"; rows that have drifted go to stderr. Exit: 0 before or after,
3 drift, 2 usage. JSON patches test what they replace; this also sees rows that should not be there."""

import json
import sys

ABSENT = object()


def tokens(path):
    return [token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:]]


def rows_of(table, value):
    return {(table, key): row for key, row in value.items()}


def states(patch):
    """{(table, key): row} before and after the patch."""
    before, after, tested = {}, {}, {}
    for operation in patch:
        path = tokens(operation["path"])
        value = operation.get("value", ABSENT)
        if operation["op"] == "test":
            tested[tuple(path)] = value
            continue
        if len(path) == 1:  # a whole table
            old, new = tested.get(tuple(path), {}), value if value is not ABSENT else {}
            for key in set(old) | set(new):
                before[(path[0], key)] = old.get(key, ABSENT)
                after[(path[0], key)] = new.get(key, ABSENT)
        else:
            before.setdefault(tuple(path), tested.get(tuple(path), ABSENT))
            after[tuple(path)] = value
    return before, after


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        before, after = states(json.load(file))
    with sys.stdin if sys.argv[2] == "-" else open(sys.argv[2], encoding="utf-8") as file:
        running = json.load(file)
    now = {row: running.get(row[0], {}).get(row[1], ABSENT) for row in before}
    if all(now[row] == after[row] for row in now):
        print("after")
        return 0
    if all(now[row] == before[row] for row in now):
        print("before")
        return 0
    print("drift")
    for row in sorted(now):
        if now[row] != before[row]:
            seen = "absent" if now[row] is ABSENT else json.dumps(now[row], sort_keys=True)
            expected = "absent" if before[row] is ABSENT else json.dumps(before[row], sort_keys=True)
            print(f"  {'|'.join(row)}: {seen}\n    expected {expected}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
