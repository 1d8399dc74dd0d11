#!/usr/bin/env python3
"""Runs the generated apply.sh and rollback.sh against simulations of SONiC's commands.

usage: sonic_apply.py FOLDER CONFIG_DB   (FOLDER: the rendered folder; CONFIG_DB: the import)

The simulated commands keep a configuration in a file: sonic-cfggen prints it, `config apply-patch` applies an
RFC 6902 patch to it or refuses, `config checkpoint` and `config rollback` copy it. Exit: 0 if all
expectations hold."""

import importlib.util
import json
import pathlib
import sys

import simulated_switch
from simulated_switch import expect, expect_nothing_to_do

GUARD = pathlib.Path(__file__).resolve().parents[3] / "switch/vendors/sonic/guard.py"
spec = importlib.util.spec_from_file_location("guard", GUARD)
guard = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guard)

SIMULATION = r'''#!/usr/bin/env python3
import json, os, pathlib, shutil, signal, sys
state = pathlib.Path(os.environ["STATE"])
config_file = state / "config_db.json"

def tokens(path):
    return [t.replace("~1", "/").replace("~0", "~") for t in path.split("/")[1:]]

def apply(config, patch):
    for op in patch:
        *parents, last = tokens(op["path"])
        at = config
        for token in parents:
            at = at[token]
        if op["op"] == "test":
            if at.get(last) != op["value"]:
                sys.exit("test failed: " + op["path"])
        elif op["op"] == "remove":
            del at[last]
        else:
            if op["op"] == "replace" and last not in at:
                sys.exit("nothing to replace: " + op["path"])
            at[last] = op["value"]
    if any(not rows for rows in config.values()):
        sys.exit("empty table")
    return config

with open(state / "log", "a") as log:
    print(pathlib.Path(sys.argv[0]).name, *sys.argv[1:], file=log)
if sys.argv[0].endswith("sonic-cfggen"):
    print(config_file.read_text())
elif sys.argv[0].endswith("TSA"):
    (state / "drained").touch()
elif sys.argv[0].endswith("TSB"):
    (state / "drained").unlink()
elif sys.argv[1] == "checkpoint":
    shutil.copy(config_file, state / (sys.argv[2] + ".cp"))
elif sys.argv[1] == "rollback":
    shutil.copy(state / (sys.argv[2] + ".cp"), config_file)
elif sys.argv[0].endswith("sonic-db-cli") and sys.argv[2] == "HGET":
    print("true" if (state / "drained").exists() else "false")
elif sys.argv[0].endswith("sonic-db-cli"):
    table, key = sys.argv[3].split("|", 1)
    config = json.loads(config_file.read_text())
    config.get(table, {}).pop(key, None)
    config_file.write_text(json.dumps({table: rows for table, rows in config.items() if rows}))
elif sys.argv[1] == "load":
    config = json.loads(config_file.read_text())
    for table, rows in json.loads(pathlib.Path(sys.argv[-1]).read_text()).items():
        for key, row in rows.items():
            config.setdefault(table, {}).setdefault(key, {}).update(row)
    config_file.write_text(json.dumps(config))
elif sys.argv[1] == "apply-patch":
    if os.environ.get("HANG_UP", "nothing") in sys.argv[-1]:
        os.kill(int((state / "script").read_text()), signal.SIGHUP)
    if os.environ.get("REFUSE", "nothing") in sys.argv[-1]:
        sys.exit("refused")
    config = apply(json.loads(config_file.read_text()), json.loads(pathlib.Path(sys.argv[-1]).read_text()))
    if "--dry-run" not in sys.argv:
        config_file.write_text(json.dumps(config))
'''


class Switch(simulated_switch.Switch):
    def __init__(self, folder, imported):
        super().__init__("sonic", folder, {"config": SIMULATION, "sonic-cfggen": SIMULATION, "TSA": SIMULATION,
                                           "TSB": SIMULATION, "sonic-db-cli": SIMULATION, "sudo": '#!/bin/sh\nexec "$@"\n'})
        self.put(imported)

    def config(self):
        return json.loads((self.root / "config_db.json").read_text())

    def put(self, config):
        (self.root / "config_db.json").write_text(json.dumps(config))

    def log(self):
        return (self.root / "log").read_text()


def main():
    folder, imported = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    planned = json.loads((folder / "test" / "config_db.after.json").read_text())

    switch = Switch(folder, imported)
    result = switch.run("apply.sh", "--dry-run")
    expect(result.returncode == 0 and switch.config() == imported, "a dry run changes nothing", result)
    result = switch.run("apply.sh")
    expect(result.returncode == 0 and switch.config() == planned, "apply writes the planned configuration", result)
    expect("checkpoint dlcp-apply" in switch.log(), "a checkpoint is taken first", result)
    expect_nothing_to_do(switch, "apply.sh")
    result = switch.run("rollback.sh")
    expect(result.returncode == 0 and switch.config() == imported, "rollback restores the import", result)
    expect_nothing_to_do(switch, "rollback.sh")

    canary = sorted(p.name for p in folder.glob("20-*.json-patch"))[0]
    definitions = sorted(p.name for p in folder.glob("[01]*.json-*"))
    result = switch.run("apply.sh", "--dry-run", definitions[-1], "--rollback")
    expect(result.returncode == 0 and "nothing to do" in result.stdout, "--rollback may follow a patch", result)
    result = switch.run("apply.sh", *definitions, canary)
    expect(result.returncode == 0 and imported != switch.config() != planned, "apply changes only the canary", result)
    result = switch.run("apply.sh")
    expect(result.returncode == 0 and switch.config() == planned, "then apply changes the rest", result)

    table, key = "WRED_PROFILE", next(k for k in planned["WRED_PROFILE"] if k.startswith("DLCP-"))
    drifted = switch.config()
    drifted[table][key]["green_min_threshold"] = "1"
    switch.put(drifted)
    result = switch.run("rollback.sh")
    expect(result.returncode == 3 and key in result.stderr, "rollback refuses a drifted row", result)
    expect(switch.config() == drifted, "it changes nothing")

    appeared = json.loads(json.dumps(imported))
    appeared[table][key] = {"ecn": "ecn_none"}
    switch.put(appeared)
    result = switch.run("apply.sh")
    expect(result.returncode == 3 and key in result.stderr, "apply refuses a row that appeared", result)
    expect(switch.config() == appeared, "it changes nothing")

    switch.put(imported)
    result = switch.run("apply.sh", REFUSE=canary)
    expect(result.returncode == 4 and switch.config() == imported, "a refused patch reverts all", result)

    # Ports change one by one, or N at a time, but never more than half of the uplinks.
    ports = {name.name: len({row[1].split("|")[0] for row in guard.Patch(name).before})
             for name in folder.glob("20-*.json-patch")}
    for batch in (1, 64):
        switch.put(imported)
        (switch.root / "log").write_text("")
        result = switch.run("apply.sh", "--batch", str(batch), "--drain")
        expect(result.returncode == 0 and switch.config() == planned, f"batches of {batch} give the plan", result)
        steps = [line.split(": ")[1] for line in result.stdout.splitlines() if line.startswith("apply: 20-")]
        sizes = [len(step.split()[1].split(",")) for step in steps]
        expect(sum(sizes) == sum(ports.values()) and max(sizes) <= batch, "every port is changed once", result)
        if batch > 1:
            uplinks = [size for step, size in zip(steps, sizes) if "fabric" in step]
            total = sum(count for name, count in ports.items() if "fabric" in name)
            expect(max(uplinks) <= total // 2, "at most half of the uplinks change at once", result)
        log = switch.log().splitlines()
        expect([line for line in log if line.startswith("TS")] == ["TSA", "TSB"], "the switch is drained and undrained", result)
        result = switch.run("rollback.sh", "--batch", str(batch))
        expect(result.returncode == 0 and switch.config() == imported, "rollback works in batches", result)

    # A switch in maintenance stays so. A lost terminal reverts the run, and ends the drain.
    (switch.root / "log").write_text("")
    (switch.root / "drained").touch()
    result = switch.run("apply.sh", "--drain")
    expect(result.returncode == 0 and switch.config() == planned, "a drained switch is changed", result)
    expect("TS" not in switch.log() and "stays so" in result.stdout, "it is not undrained", result)
    (switch.root / "drained").unlink()
    switch.put(imported)
    (switch.root / "log").write_text("")
    (switch.folder / "recorded.sh").write_text('echo $$ >"$STATE/script"; exec bash "$(dirname "$0")/apply.sh" "$@"\n')
    result = switch.run("recorded.sh", "--drain", HANG_UP="host.json-patch.001")
    expect(result.returncode == 4 and switch.config() == imported, "a hangup reverts the run", result)
    expect([line for line in switch.log().splitlines() if line.startswith("TS")] == ["TSA", "TSB"], "it is undrained", result)

    # Without a drain no port changes, and no mark is left that would end an operator's maintenance later.
    switch.put(imported)
    switch.add_tool("TSA", "#!/bin/sh\nexit 1\n")
    result = switch.run("apply.sh", "--drain")
    expect(result.returncode == 4 and switch.config() == imported, "a refused drain reverts the definitions", result)
    expect(not (switch.folder / "drained").exists(), "no mark is left", result)
    switch.add_tool("TSA", SIMULATION + "sys.exit(1)\n")
    result = switch.run("apply.sh", "--drain")
    expect(result.returncode == 4 and switch.config() == imported, "a failed drain reverts the definitions", result)
    expect(not (switch.root / "drained").exists(), "it is undrained", result)
    expect(not (switch.folder / "drained").exists(), "no mark is left", result)
    switch.add_tool("TSB", "#!/bin/sh\nexit 1\n")
    result = switch.run("apply.sh", "--drain")
    expect((switch.root / "drained").exists(), "the switch stays drained if TSB fails, too")
    expect(result.returncode == 5 and "still drained" in result.stderr, "the message says so", result)
    expect(switch.config() == imported, "the rows are reverted", result)
    switch.add_tool("TSA", SIMULATION)
    result = switch.run("apply.sh", "--drain")
    expect(result.returncode == 4 and switch.config() == planned, "the change is done", result)
    expect("still drained" in result.stderr and "itself is done" in result.stderr, "both are said", result)
    switch.add_tool("TSB", SIMULATION + "sys.exit(1)\n")
    switch.put(imported)
    result = switch.run("apply.sh", "--drain")
    expect(result.returncode == 0 and not (switch.root / "drained").exists(), "TSB has worked in spite of its error", result)
    switch.put(imported)
    switch.add_tool("TSB", SIMULATION)
    result = switch.run("apply.sh", "--drain")
    expect(result.returncode == 0 and not (switch.root / "drained").exists(), "a later run ends the drain", result)

    # Changes by others in the meantime are kept: only the rows of this run are reverted.
    switch.put(imported)
    last = sorted(ports)[-1]
    theirs = """
config = json.loads(config_file.read_text())
config.setdefault("NTP_SERVER", {})["10.0.0.9"] = {"iburst": "on"}
config_file.write_text(json.dumps(config))
"""
    switch.add_tool("config", SIMULATION.replace('sys.exit("refused")', theirs.strip().replace("\n", "; ") +
                                               '; sys.exit("refused")'))
    result = switch.run("apply.sh", REFUSE=last)
    left = switch.config()
    expect(result.returncode == 4 and left["NTP_SERVER"].pop("10.0.0.9", None), "a row of another user is kept", result)
    expect(left == imported, "rows of this run are reverted", result)

    # A switch that refuses all further changes: the message lists the remaining rows and how to compare them.
    switch.put(imported)
    asked = 'if os.environ.get("REFUSE", "nothing") in sys.argv[-1]:'
    expect(asked in SIMULATION, "the simulation can refuse")
    switch.add_tool("config", SIMULATION.replace(
        asked, 'if (state / "broken").exists() or os.environ.get("REFUSE", "nothing") in sys.argv[-1]:\n'
               '        (state / "broken").touch()'))
    result = switch.run("apply.sh", REFUSE=last)
    expect(result.returncode == 5 and "some rows could not be reverted: compare with checkpoint dlcp-apply-" in result.stderr,
           "it is told when rows stay", result)
    expect("would also revert later changes" in result.stderr, "the message describes a full rollback", result)
    expect(switch.config() != imported, "some rows remain")
    (switch.root / "broken").unlink()
    switch.add_tool("config", SIMULATION)

    # Definitions that ports refer to cannot be removed.
    switch.put(planned)
    first = sorted(name.name for name in (folder / "rollback").glob("[01]*.json-*"))[-1]
    result = switch.run("rollback.sh", first)
    expect(result.returncode == 3 and "still the" in result.stderr, "definitions in use cannot be removed", result)
    expect(switch.config() == planned, "nothing changes")
    for wrong in (["--batch", "0"], ["--batch"], ["--nonsense"]):
        expect(switch.run("apply.sh", *wrong).returncode == 2, f"{wrong} is a usage error")
    switch.remove()
    print("apply.sh and rollback.sh: all expectations hold")


if __name__ == "__main__":
    main()
