#!/usr/bin/env python3
"""Compares the rows of a patch in the running configuration with their state before and after the patch.

  guard.py ROWS RUNNING [APPLIED]    ROWS: guard/*.json; RUNNING: the running configuration as imported, or -
                                     APPLIED: the running configuration right after the patch was applied

Prints one word:
  before   the rows are as imported
  after    the rows are as in APPLIED if given, because some systems rewrite statements; otherwise as planned
  extra    as "after", but with additional statements that are in neither state: some systems add defaults
  drift    all other cases
For "extra" and "drift" the rows go to stderr.
Exit: 0 before or after, 3 extra or drift, 2 usage or unreadable."""

import json
import re
import sys


def numbers(text):
    for part in text.replace(",", " ").split():
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def each(path, lists):
    """Splits a statement with a list of numbers, such as "1-3,7", into a statement for each number."""
    for before, after in lists:
        end = path.find(after, len(before))
        if path.startswith(before) and end >= 0 and " > " not in path[:end]:
            return [f"{before}{number}{path[end:]}" for number in numbers(path[len(before):end])]
    return [path]


def blocks(text, lists=(), comment=None):
    opened = []
    for raw in text.splitlines():
        line = " ".join(raw.split())
        kept = comment and line.startswith(comment)
        if not line or not kept and (line[0] in "!#" or line in ("exit", "end")):
            continue
        indent = len(raw) - len(raw.lstrip())
        while opened and opened[-1][0] >= indent:
            opened.pop()
        path = f"{opened[-1][1]} > {line}" if opened else line
        yield from each(path, lists)
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


def keys_of(keys, names):
    """The key leaves of the list with this path. `keys` has paths or their last words; the longest match applies."""
    fitting = [one for one in keys if names == one or names.endswith(" " + one)]
    return keys[max(fitting, key=len)].split() if fitting else []


def word(value):
    return json.dumps(value) if isinstance(value, (bool, int, float)) else value


def updates(answer, keys):
    """Statements in gnmic's output of a Get, which gives each value with the path that was requested."""
    for update in answer:
        for path, value in update.get("values", {}).items():
            names = " ".join(step.split(":")[-1] for step in path.split("/") if step)
            yield from tree(value, keys, names, names)


def tree(node, keys, path="", names="", own=()):
    if isinstance(node, list) and not path:
        for item in node:
            yield from tree(item, keys)
        return
    if not isinstance(node, dict):
        yield f"{path} {word(node)}".strip()
        return
    if not path and "updates" in node:
        yield from updates(node["updates"], keys)
        return
    if path and len(node) == len(own):  # an entry that has only keys
        yield path
    for long_name, value in node.items():
        name = long_name.split(":")[-1]
        if name in own:  # a key, which is part of the path already
            continue
        below, here = f"{path} {name}".strip(), f"{names} {name}".strip()
        if not isinstance(value, list):
            yield from tree(value, keys, below, here)
            continue
        list_keys = keys_of(keys, here)
        for item in value:
            if not isinstance(item, dict):
                yield from tree(item, keys, below, here)
            elif list_keys and all(key in item for key in list_keys):
                entry = " ".join(str(word(item[key])) for key in list_keys)
                yield from tree(item, keys, f"{below} {entry}", here, list_keys)


def statements(guard, text):
    if guard["syntax"] == "blocks":
        return blocks(text, guard.get("lists", ()), guard.get("comment"))
    if guard["syntax"] == "flat":
        return flat(text, guard["prefix"])
    return tree(json.loads(text), guard["keys"])


def rows_of(guard, path):
    with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
        running = set(statements(guard, file.read()))  # the output of several commands may repeat lines
    return {scope: sorted(one for one in running if one == scope or one.startswith(scope + " "))
            for scope in guard["rows"]}


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        guard = json.load(file)
    now = rows_of(guard, sys.argv[2])
    # ROWS has two lists of statements for each scope, before and after the patch. They lack the words of the scope.
    before, after = ({scope: sorted({scope + rest for rest in row[which]}) for scope, row in guard["rows"].items()}
                     for which in (0, 1))
    if len(sys.argv) == 4:
        after = rows_of(guard, sys.argv[3])
    if now == after:
        print("after")
        return 0
    if now == before:
        print("before")
        return 0
    if all(set(after[scope]) <= set(now[scope]) and not set(now[scope]) & set(before[scope]) - set(after[scope])
           for scope in now):
        print("extra")
        for scope in sorted(now):
            if now[scope] != after[scope]:
                print(f"  {scope}: {sorted(set(now[scope]) - set(after[scope]))!r}", file=sys.stderr)
        return 3
    print("drift")
    for scope in sorted(now):
        if now[scope] != before[scope]:
            print(f"  {scope}: {now[scope]!r}\n    expected {before[scope]!r}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
