#!/usr/bin/env python3
"""Says whether the rows that a patch touches are as they were before it, or as it leaves them.

  guard.py ROWS RUNNING     ROWS: guard/*.json; RUNNING: the running configuration as imported, or -

Prints "before", "after" or "drift"; rows that have drifted go to stderr.
Exit: 0 before or after, 3 drift, 2 usage or unreadable."""

import json
import re
import sys


def blocks(text):
    opened = []
    for raw in text.splitlines():
        line = " ".join(raw.split())
        if not line or line[0] in "!#" or line in ("exit", "end"):
            continue
        indent = len(raw) - len(raw.lstrip())
        while opened and opened[-1][0] >= indent:
            opened.pop()
        path = f"{opened[-1][1]} > {line}" if opened else line
        yield path
        opened.append((indent, path))


def flat(text, prefix):
    for raw in text.splitlines():
        line = " ".join(raw.split())
        if not line.startswith(prefix):
            continue
        line = line[len(prefix):]
        several = re.fullmatch(r"(.*?) \[ (.*) \](.*)", line)
        if not several:
            yield line
            continue
        for value in several[2].split():
            yield f"{several[1]} {value}"


def key_of(keys, names):
    fitting = [one for one in keys if names == one or names.endswith(" " + one)]
    return keys[max(fitting, key=len)] if fitting else None


def tree(node, keys, path="", names="", own=None):
    if isinstance(node, list) and not path:
        for item in node:
            yield from tree(item, keys)
        return
    if not isinstance(node, dict):
        yield f"{path} {json.dumps(node) if isinstance(node, (bool, int, float)) else node}".strip()
        return
    for long_name, value in node.items():
        name = long_name.split(":")[-1]
        if name == own:  # a key, which the path has already
            continue
        below, here = f"{path} {name}".strip(), f"{names} {name}".strip()
        if not isinstance(value, list):
            yield from tree(value, keys, below, here)
            continue
        key = key_of(keys, here)
        for item in value:
            if not isinstance(item, dict):
                yield from tree(item, keys, below, here)
            elif key in item:
                yield from tree(item, keys, f"{below} {item[key]}", here, key)


def statements(guard, text):
    if guard["syntax"] == "blocks":
        return blocks(text)
    if guard["syntax"] == "flat":
        return flat(text, guard["prefix"])
    return tree(json.loads(text), guard["keys"])


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        guard = json.load(file)
    with sys.stdin if sys.argv[2] == "-" else open(sys.argv[2], encoding="utf-8") as file:
        running = list(statements(guard, file.read()))
    now, before, after = {}, {}, {}
    for scope, row in guard["rows"].items():
        before[scope], after[scope] = sorted(row["before"]), sorted(row["after"])
        now[scope] = sorted(one for one in running if one == scope or one.startswith(scope + " "))
    if now == after:
        print("after")
        return 0
    if now == before:
        print("before")
        return 0
    print("drift")
    for scope in sorted(now):
        if now[scope] != before[scope]:
            print(f"  {scope}: {now[scope]!r}\n    expected {before[scope]!r}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
