#!/usr/bin/env python3
"""Makes this folder's change survive `config load_minigraph --override_config`, in SONiC's golden_config_db.json.

  persist.py add [--golden FILE]        writes the tables of the change to FILE, as they are on the switch now
  persist.py remove [--golden FILE]     restores FILE to its state before `add`

FILE is /etc/sonic/golden_config_db.json by default. A table in it replaces the whole generated table, so `add` writes
whole tables: the site's rows in them keep their present values. Run apply.sh first: `add` refuses if the switch does
not have the change. `remove` refuses if a table has changed since then. The previous contents are kept next to
FILE (FILE.before-dlcp), because this folder is replaced by the next rollout. Exit: 0 done or nothing to do, 2 usage, 3 refused."""

import argparse
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import guard  # noqa: E402  (in the same folder)

def before_of(golden):
    """The file with the previous contents. Earlier versions kept it in this folder."""
    old, new = HERE / "golden-before.json", golden.with_name(golden.name + ".before-dlcp")
    return old if old.exists() and not new.exists() else new


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
        refuse(f"{path} is not an object of tables (possibly of several ASICs): add the rows by hand")
    return found


def save(path, content):
    """Writes a new file and renames it, so that no reader finds an incomplete file."""
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
    """Rows of the change, {(table, key): content}; refuses unless the switch has all of them."""
    rows = {}
    for path in sorted([*HERE.glob("*.json-patch"), *HERE.glob("*.json-direct")]):
        patch = guard.Patch(path)
        if patch.state(now)[0] != "after":
            refuse(f"the switch does not have the rows of {path.name}: run apply.sh first")
        rows.update(patch.after)
    return rows


def add(golden):
    now, content = running(), load(golden)
    rows = touched(now)
    kept_in = before_of(golden)
    before = json.loads(kept_in.read_text())["tables"] if kept_in.exists() else {}
    new = dict(content)
    for table in sorted({table for table, _ in rows}):
        # The whole table as on the switch. Other rows of the golden file are kept.
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
    save(kept_in, {"golden": str(golden), "tables": before, "written": {table: new.get(table) for table in before}})
    save(golden, new)
    print(f"{golden}: {', '.join(sorted(before))}; persist.py remove reverts this")


def remove(golden):
    kept_in = before_of(golden)
    if not kept_in.exists():
        return print("nothing to do")
    kept, content = json.loads(kept_in.read_text()), load(golden)
    for table, rows in kept["written"].items():
        if content.get(table) != rows:
            refuse(f"{table} of {golden} has changed since then: correct it by hand; the previous contents are in {kept_in.name}")
    for table, rows in kept["tables"].items():
        content.pop(table, None)
        if rows is not None:
            content[table] = rows
    if content:
        save(golden, content)
    else:
        golden.unlink()
    kept_in.unlink()
    print(f"{golden} has its previous contents again")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("add", "remove"))
    parser.add_argument("--golden", type=pathlib.Path, default=pathlib.Path("/etc/sonic/golden_config_db.json"))
    arguments = parser.parse_args()
    {"add": add, "remove": remove}[arguments.verb](arguments.golden)


if __name__ == "__main__":
    main()
