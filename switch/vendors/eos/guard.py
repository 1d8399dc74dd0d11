#!/usr/bin/env python3
"""Says whether the rows that a patch touches are as they were before it, or as it left them.

  guard.py ROWS RUNNING [APPLIED]    ROWS: guard/*.json; RUNNING: output of `show running-config`, or -
                                     APPLIED: the same, saved right after the patch was applied

Prints "before", "after" or "drift"; rows that have drifted go to stderr. EOS rewrites what it is told
in words of its own, so that "after" is what APPLIED says where there is one, else the planned text.
Exit: 0 before or after, 3 drift, 2 usage."""

import json
import re
import sys

BLOCKS = ("qos profile ", "policy-map type quality-of-service ", "class-map type qos match-any ")
SUB_BLOCK = re.compile(r"(uc-|mc-)?tx-queue \d+$|class ")


def numbers(words):
    for word in words:
        for part in word.split(","):
            first, _, last = part.partition("-")
            yield from range(int(first), int(last or first) + 1)


def rows_of(text):
    rows, block, interface, sub = {}, None, None, ""
    for raw in text.splitlines():
        line = raw.strip()
        if not line or (line.startswith("!") and not line.startswith("!! DLCP")):
            continue
        if not raw.startswith(" "):
            block = interface = None
            mapped = re.fullmatch(r"qos map (dscp|traffic-class) ([\d ,-]+) to (.*)", line)
            if mapped:
                for number in numbers(mapped[2].split()):
                    rows[f"qos map {mapped[1]} {number}"] = mapped[3].replace("uc-tx-queue", "tx-queue")
            elif line.startswith(BLOCKS):
                block, sub = line, ""
                rows[block] = []
            elif line.startswith("interface "):
                interface = line
        elif block:
            if not raw.startswith("    "):
                sub = line if SUB_BLOCK.match(line) else ""
            rows[block].append(f"{sub}|{'' if line == sub else line}")
        elif interface and line.startswith("service-profile "):
            rows[f"{interface} service-profile"] = line.split(" ", 1)[1]
    # EOS prints blocks in an order of its own.
    return {row: "\n".join(sorted(value)) if isinstance(value, list) else value for row, value in rows.items()}


def read(path):
    with sys.stdin if path == "-" else open(path, encoding="utf-8") as file:
        return rows_of(file.read())


def main():
    if len(sys.argv) not in (3, 4):
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = json.load(file)
    running = read(sys.argv[2])
    now = {row: running.get(row) for row in rows}
    before = {row: value[0] for row, value in rows.items()}
    after = {row: value[1] for row, value in rows.items()}
    if len(sys.argv) == 4:
        applied = read(sys.argv[3])
        after = {row: applied.get(row) for row in rows}
    if now == before:
        print("before")
        return 0
    if now == after:
        print("after")
        return 0
    print("drift")
    for row in sorted(now):
        if now[row] != before[row]:
            print(f"  {row}: {now[row]!r}\n    expected {before[row]!r}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main())
