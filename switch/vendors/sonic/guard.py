#!/usr/bin/env python3
"""Gives apply.sh the rows of a JSON patch: before the patch, now, and after it.

  guard.py state PATCH RUNNING      prints "before", "after" or "drift"; drifted rows go to stderr, and
                                    so do rows that the patch removes although others refer to them
  guard.py split N PATCH FOLDER     writes the patch as patches of N ports each, FOLDER/NAME.000 ...,
                                    never more than half of the uplinks in one; prints file and ports
  guard.py undo PATCH RUNNING       prints a patch that reverts the rows in RUNNING, and no other row
  guard.py load PATCH               prints the rows that the patch sets, as input of `config load`
  guard.py removed PATCH            prints the rows that the patch removes, as "TABLE|key"

RUNNING: output of `sonic-cfggen -d --print-data`, or -. Exit: 0, 2 usage, 3 drift or still referred to.
A JSON patch tests only values that it replaces; guard.py also detects rows that the patch expects to be absent."""

import json
import pathlib
import sys

ABSENT = object()
# Fields that name a row of another table.
REFERENCES = {"wred_profile": "WRED_PROFILE", "scheduler": "SCHEDULER", "profile": "BUFFER_PROFILE",
              "dscp_to_tc_map": "DSCP_TO_TC_MAP", "tc_to_queue_map": "TC_TO_QUEUE_MAP",
              "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP"}


def tokens(path):
    return [token.replace("~1", "/").replace("~0", "~") for token in path.split("/")[1:]]


def pointer(*parts):
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


class Patch:
    """Rows {(table, key): content} before and after, in the patch's order; tables that it adds or removes."""

    def __init__(self, path):
        self.before, self.after, self.created, self.removed = {}, {}, set(), set()
        tested = {}
        for operation in read(path):
            path = tuple(tokens(operation["path"]))
            value = operation.get("value", ABSENT)
            if operation["op"] == "test":
                tested[path] = value
            elif len(path) == 1:  # a whole table
                # Before it removes a table, the patch has tested the whole table, or the only row that is left.
                left = {row[1]: content for row, content in tested.items()
                        if row[0] == path[0] and len(row) == 2 and row not in self.before}
                old, new = tested.get(path, left), value if value is not ABSENT else {}
                (self.removed if value is ABSENT else self.created).add(path[0])
                for key in [*old, *(key for key in new if key not in old)]:
                    self.before[(path[0], key)] = old.get(key, ABSENT)
                    self.after[(path[0], key)] = new.get(key, ABSENT)
            else:
                self.before.setdefault(path, tested.get(path, ABSENT))
                self.after[path] = value

    def state(self, running):
        now = {row: running.get(row[0], {}).get(row[1], ABSENT) for row in self.before}
        if all(now[row] == self.after[row] for row in now):
            return "after", now
        return ("before" if all(now[row] == self.before[row] for row in now) else "drift"), now


def read(path):
    if path == "-":
        return json.load(sys.stdin)
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def operations(rows, source, target, there, goes):
    """The operations that change these rows from `source` to `target`. `there`: tables that exist; tables that the
    operations create are added. `goes`: {table: its rows that are left} for tables that are removed with their last
    row."""
    result = []
    for table, key in rows:
        old, new, path = source[(table, key)], target[(table, key)], pointer(table, key)
        if old is not ABSENT:
            result.append({"op": "test", "path": path, "value": old})
        if new is not ABSENT and table not in there:
            there.add(table)
            result.append({"op": "add", "path": pointer(table), "value": {key: new}})
        elif new is not ABSENT and old != new:
            result.append({"op": "add" if old is ABSENT else "replace", "path": path, "value": new})
        elif old is not ABSENT and new is ABSENT:
            left = goes.get(table, {0, 1})
            left.discard(key)
            result.append({"op": "remove", "path": path if left else pointer(table)})
    return result


def referred(patch, running):
    """Rows that the patch removes although rows outside the patch refer to them."""
    gone = {row for row, content in patch.after.items() if content is ABSENT}
    if not gone:
        return
    for table, rows in running.items():
        for key, row in rows.items():
            for field in REFERENCES.keys() & row.keys():
                if (table, key) not in patch.after and (REFERENCES[field], row[field]) in gone:
                    yield f"{REFERENCES[field]}|{row[field]}: still the {field} of {table}|{key}"


def print_state(patch, running):
    state, now = patch.state(running)
    if state == "before" and (found := list(referred(patch, running))):
        print("drift")
        print("\n".join(f"  {line}" for line in found[:5]), file=sys.stderr)
        return 3
    print(state)
    if state != "drift":
        return 0
    shown = lambda row: "absent" if row is ABSENT else json.dumps(row, sort_keys=True)
    for row in sorted(now):
        if now[row] != patch.before[row]:
            print(f"  {'|'.join(row)}: {shown(now[row])}\n    expected {shown(patch.before[row])}", file=sys.stderr)
    return 3


def split(count, name, patch, folder):
    ports = {}
    for row in patch.before:
        ports.setdefault(row[1].split("|")[0], []).append(row)
    if "fabric" in pathlib.Path(name).name:
        count = min(count, max(1, len(ports) // 2))
    there = {table for table, _ in patch.before} - patch.created
    goes = {table: {key for one, key in patch.before if one == table} for table in patch.removed}
    names = list(ports)
    for number, first in enumerate(range(0, len(names), count)):
        some = names[first:first + count]
        rows = [row for port in some for row in ports[port]]
        target = pathlib.Path(folder) / f"{pathlib.Path(name).name}.{number:03}"
        target.write_text(json.dumps(operations(rows, patch.before, patch.after, there, goes)))
        print(target, ",".join(some), sep="\t")


def undo(patch, running):
    now = patch.state(running)[1]
    there = set(running)
    goes = {table: set(running.get(table, {})) for table in patch.created}
    return operations([row for row in reversed(list(now)) if now[row] != patch.before[row]], now, patch.before,
                      there, goes)


def main():
    verb, *rest = sys.argv[1:] or [""]
    if len(rest) != {"state": 2, "split": 3, "undo": 2, "load": 1, "removed": 1}.get(verb, -1):
        print(__doc__, file=sys.stderr)
        return 2
    if verb == "state":
        return print_state(Patch(rest[0]), read(rest[1]))
    if verb == "split":
        split(max(1, int(rest[0])), rest[1], Patch(rest[1]), rest[2])
    elif verb == "undo":
        print(json.dumps(undo(Patch(rest[0]), read(rest[1]))))
    elif verb == "load":
        tables = {}
        for (table, key), row in Patch(rest[0]).after.items():
            if row is not ABSENT:
                tables.setdefault(table, {})[key] = row
        print(json.dumps(tables))
    else:
        for (table, key), row in Patch(rest[0]).after.items():
            if row is ABSENT:
                print(f"{table}|{key}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
