#!/usr/bin/env python3
"""Keeps this folder's change through `config load_minigraph --override_config`, in SONiC's golden_config_db.json.

  persist.py add [--golden FILE]        puts the tables of the change into FILE, as they run now
  persist.py remove [--golden FILE]     puts FILE back to what it was before `add`

FILE is /etc/sonic/golden_config_db.json. A table there takes the whole place of the running one, so `add` writes whole
tables: rows of the site's in them are frozen as they are now. Run apply.sh first: `add` refuses where the change is
not what runs. `remove` refuses where a table has been changed since. What was there before is kept beside this script
(golden-before.json). Exit: 0 done or nothing to do, 2 usage, 3 refused."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import guard  # noqa: E402  (beside this script)

BEFORE = HERE / "golden-before.json"


def refuse(why):
    print(f"persist.py: {why}", file=sys.stderr)
    sys.exit(3)


def load(path):
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        refuse(f"{path} is not JSON: {error}")
    if not isinstance(found, dict) or not all(isinstance(rows, dict) for rows in found.values()):
        refuse(f"{path} is not an object of tables (of several ASICs?): add the rows by hand")
    return found


def save(path, content):
    """Beside its place and renamed, so that nobody finds half of it."""
    new = path.with_name(path.name + ".dlcp-new")
    new.write_text(json.dumps(content, indent=4, sort_keys=True) + "\n", encoding="utf-8")
    if path.exists():
        os.chmod(new, path.stat().st_mode & 0o777)
    os.replace(new, path)


def running():
    command = ["sonic-cfggen", "-d", "--print-data"]
    if os.geteuid() != 0:
        command.insert(0, "sudo")
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def touched(now):
    """Rows of the change, {(table, key): content}; refuses unless all of it runs."""
    rows = {}
    for path in sorted([*HERE.glob("*.json-patch"), *HERE.glob("*.json-direct")]):
        patch = guard.Patch(path)
        if patch.state(now)[0] != "after":
            refuse(f"{path.name} is not what runs: apply.sh first")
        rows.update(patch.after)
    return rows


def add(golden):
    now, content = running(), load(golden)
    rows = touched(now)
    before = json.loads(BEFORE.read_text())["tables"] if BEFORE.exists() else {}
    new = dict(content)
    for table in sorted({table for table, _ in rows}):
        # The whole table as it runs; rows that the golden file has beside it stay.
        new[table] = {**content.get(table, {}), **now.get(table, {})}
        for (of, key), row in rows.items():
            if of == table and row is guard.ABSENT:
                new[table].pop(key, None)
        if not new[table]:
            del new[table]
    if new == content:
        return print("nothing to do")
    for table in {table for table, _ in rows}:
        before.setdefault(table, content.get(table))
    save(BEFORE, {"golden": str(golden), "tables": before, "written": {table: new.get(table) for table in before}})
    save(golden, new)
    print(f"{golden}: {', '.join(sorted(before))}; persist.py remove takes them back")


def remove(golden):
    if not BEFORE.exists():
        return print("nothing to do")
    kept, content = json.loads(BEFORE.read_text()), load(golden)
    for table, rows in kept["written"].items():
        if content.get(table) != rows:
            refuse(f"{table} of {golden} has changed since: put it right by hand, what was there is in {BEFORE.name}")
    for table, rows in kept["tables"].items():
        content.pop(table, None)
        if rows is not None:
            content[table] = rows
    if content:
        save(golden, content)
    else:
        golden.unlink()
    BEFORE.unlink()
    print(f"{golden} is as before")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("add", "remove"))
    parser.add_argument("--golden", type=pathlib.Path, default=pathlib.Path("/etc/sonic/golden_config_db.json"))
    arguments = parser.parse_args()
    {"add": add, "remove": remove}[arguments.verb](arguments.golden)


if __name__ == "__main__":
    main()
