#!/usr/bin/env python3
"""Runs the generated apply.sh and rollback.sh of a Cumulus switch against a simulated `nv`.

usage: cumulus_apply.py FOLDER CONFIG   (FOLDER: the rendered folder; CONFIG: the imported YAML)

The simulation keeps the applied configuration in a file and implements config show, patch, diff, detach,
apply and unset. Exit: 0 if all expectations hold."""

import json
import pathlib
import sys

import simulated_switch
from simulated_switch import expect, expect_nothing_to_do

SIMULATION = r'''#!/usr/bin/env python3
import json, os, pathlib, sys
state = pathlib.Path(os.environ["STATE"])
applied, pending = state / "applied.json", state / "pending.json"

def read_yaml(path):
    """Reads only block maps, which dlcp-switch writes."""
    root, stack = {}, []
    for line in pathlib.Path(path).read_text().splitlines():
        line = line.replace("- ", "  ", 1) if line.startswith("- ") else line
        indent, (key, _, value) = len(line) - len(line.lstrip()), line.strip().partition(":")
        while stack and stack[-1][0] >= indent:
            stack.pop()
        at = stack[-1][1] if stack else root
        key, value = key.strip("'"), value.strip()
        if value and value != "{}":
            at[key] = value.strip("'")
        else:
            at = at.setdefault(key, {})
            stack.append((indent, at))
    return root["set"]

def merge(into, other):
    for key, value in other.items():
        if isinstance(value, dict):
            merge(into.setdefault(key, {}), value)
        else:
            into[key] = value

def current():
    return json.loads((pending if pending.exists() else applied).read_text())

verb = sys.argv[1:3]
with open(state / "log", "a") as log:
    print(*sys.argv[1:], file=log)
if verb == ["config", "show"]:
    print(json.dumps([{"header": {}}, {"set": json.loads(applied.read_text())}]))
elif verb == ["config", "patch"]:
    if os.environ.get("REFUSE", "nothing") in sys.argv[3]:
        sys.exit("refused")
    config = current()
    merge(config, read_yaml(sys.argv[3]))
    pending.write_text(json.dumps(config))
elif sys.argv[1] == "unset":
    config = current()
    parents = [config]
    for token in sys.argv[2:-1]:
        parents.append(parents[-1][token])
    del parents[-1][sys.argv[-1]]
    for parent, token in zip(reversed(parents[:-1]), reversed(sys.argv[2:-1])):
        if not parent[token]:
            del parent[token]
    pending.write_text(json.dumps(config))
elif verb == ["config", "detach"]:
    pending.unlink(missing_ok=True)
elif verb == ["config", "apply"]:
    pending.replace(applied)
'''


class Switch(simulated_switch.Switch):
    def __init__(self, folder):
        super().__init__("cumulus", folder, {"nv": SIMULATION}, packages=True)

    def config(self):
        return json.loads((self.root / "applied.json").read_text())

    def put(self, config):
        (self.root / "applied.json").write_text(json.dumps(config))


def main():
    folder = pathlib.Path(sys.argv[1])
    switch = Switch(folder)
    reader = {"__name__": "reader"}
    exec(SIMULATION.split("verb =")[0].replace('os.environ["STATE"]', repr("/nowhere")), reader)
    lines = pathlib.Path(sys.argv[2]).read_text().splitlines()
    only_set = pathlib.Path(switch.root / "import.yaml")
    only_set.write_text("\n".join(lines[lines.index("- set:"):]))
    imported = reader["read_yaml"](only_set)
    switch.put(imported)

    result = switch.run("apply.sh", "--dry-run")
    expect(result.returncode == 0 and switch.config() == imported, "a dry run changes nothing", result)
    result = switch.run("apply.sh")
    planned = switch.config()
    expect(result.returncode == 0 and planned != imported, "apply changes the configuration", result)
    expect(planned["interface"]["swp1"]["qos"]["mapping"]["profile"].startswith("DLCP"), "port profile")
    expect_nothing_to_do(switch, "apply.sh")

    drifted = switch.config()
    profile = next(name for name in planned["qos"]["congestion-control"] if name.startswith("DLCP"))
    drifted["qos"]["congestion-control"][profile]["traffic-class"]["1"] = {"ecn": "enable"}
    switch.put(drifted)
    result = switch.run("rollback.sh")
    expect(result.returncode == 3 and profile in result.stderr, "rollback refuses a profile with additions", result)
    expect(switch.config() == drifted, "it changes nothing")
    switch.put(planned)

    result = switch.run("rollback.sh")
    expect(result.returncode == 0, "rollback works", result)
    switch_back = switch.config()
    sys.path.insert(0, str(folder))
    from guard import leaves  # "swp1-4" is swp1 to swp4; an empty map is not a setting
    settings = [{k: v for k, v in leaves(c).items() if v != "{}"} for c in (switch_back, imported)]
    expect(settings[0] == settings[1], "rollback restores the import", result)
    expect_nothing_to_do(switch, "rollback.sh")

    canary = sorted(p.stem for p in folder.glob("20-*.yaml"))[0]
    result = switch.run("apply.sh", "10-definitions", canary)
    expect(result.returncode == 0 and imported != switch.config() != planned, "apply changes only the canary", result)
    result = switch.run("apply.sh")
    expect(result.returncode == 0 and switch.config() == planned, "then apply changes the rest", result)

    switch.put(imported)
    result = switch.run("apply.sh", REFUSE=canary)
    expect(result.returncode == 4 and switch.config() == imported, "a refused patch reverts all", result)
    moved = json.loads(json.dumps(imported))
    moved["interface"]["swp1-4"]["qos"]["congestion-control"]["profile"] = "other"
    switch.put(moved)
    result = switch.run("apply.sh")
    expect(result.returncode == 3 and "swp1" in result.stderr, "apply refuses a port that was changed", result)
    switch.remove()
    print("apply.sh and rollback.sh: all expectations hold")


if __name__ == "__main__":
    main()
