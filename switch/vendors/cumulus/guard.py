#!/usr/bin/env python3
"""Determines whether the settings of a patch have their state before the patch, or after it.

  guard.py ROWS RUNNING     ROWS: guard/*.json; RUNNING: output of `nv config show` (YAML or JSON), or -

Prints "before", "after" or "drift"; drifted settings go to stderr, including those that were
added to a profile of DLCP. Exit: 0 before or after, 3 drift, 2 usage or unreadable."""

import json
import re
import sys

PROFILES = re.compile(r"^(qos/[^/]+/DLCP[r0-9]*-[^/]+/)")
RANGES = {"interface", "dscp", "pcp", "switch-priority", "traffic-class"}


def parse(text):
    try:
        return json.loads(text)
    except ValueError:
        import yaml
        return yaml.safe_load(text)


def expand(key):
    """swp1-3,swp5 -> swp1 swp2 swp3 swp5"""
    names = []
    for part in str(key).split(","):
        match = re.fullmatch(r"(.*?)(\d+)-(\d+)", part)
        if match:
            names += [match[1] + str(i) for i in range(int(match[2]), int(match[3]) + 1)]
        else:
            names.append(part)
    return names


def leaves(node, path="", parent=""):
    if not isinstance(node, dict) or not node:
        value = {True: "on", False: "off"}.get(node, node) if isinstance(node, bool) else node
        return {path: "{}" if isinstance(value, dict) or value is None else str(value)}
    found = {}
    for key, value in node.items():
        for name in expand(key) if parent in RANGES else [str(key)]:
            found.update(leaves(value, f"{path}/{name}" if path else name, str(key)))
    return found


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    with sys.stdin if sys.argv[2] == "-" else open(sys.argv[2], encoding="utf-8") as file:
        running = {}
        for operation in parse(file.read()):
            running.update(leaves(operation.get("set", {})))
    profiles = {match[1] for match in map(PROFILES.match, rows) if match}
    strays = [path for path in running if path not in rows and any(path.startswith(p) for p in profiles)]
    before = {path: value[0] for path, value in rows.items()}
    after = {path: value[1] for path, value in rows.items()}
    now = {path: running.get(path) for path in rows}
    # A patch that updates a profile names only its changes; its other settings are no strays.
    created = {p for p in profiles if all(before[path] is None for path in rows if path.startswith(p))}
    removed = {p for p in profiles if all(after[path] is None for path in rows if path.startswith(p))}
    strays = [path for path in strays if any(path.startswith(p) for p in created | removed)]
    if now == after and not strays:
        print("after")
        return 0
    if now == before and not strays:
        print("before")
        return 0
    print("drift")
    for path in sorted(now):
        if now[path] != before[path]:
            print(f"  {path}: {now[path]}\n    expected {before[path]}", file=sys.stderr)
    for path in strays:
        print(f"  {path}: {running[path]}\n    expected nothing", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
