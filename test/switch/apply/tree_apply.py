#!/usr/bin/env python3
"""Runs the generated apply.sh and rollback.sh of a target that is data against a simulated switch.

usage: tree_apply.py OS FOLDER RUNNING RENDER HOSTS UPLINKS   (RENDER OS FOLDER RUNNING HOSTS UPLINKS renders again)

The simulation keeps the configuration as statements and accepts the target's own syntax: blocks with "no",
flat set and delete, or a gNMI Set. With YANG models in $DLCP_YANG_DIR_..., the models must accept the applied
configuration, and reject it after one line was corrupted. Exit: 0 if all expectations hold."""

import json
import os
import pathlib
import re
import subprocess
import sys

import simulated_switch
from simulated_gnmi import GNMIC, gnmi_faults
from simulated_switch import expect, expect_nothing_to_do

YANG = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "switch-yang-set"

CLI = r'''#!/usr/bin/env python3
import json, os, pathlib, re, sys
state = pathlib.Path(os.environ["STATE"])
sys.path.insert(0, str(state / "leaf"))
import guard
file, pending = state / "config.json", state / "pending.json"
prefix = os.environ["PREFIX"]
config = json.loads((pending if pending.exists() else file).read_text())
words = {"blocks": "no ", "flat": prefix.replace("set", "delete", 1)}

def under(one, scope):
    return one == scope or one.startswith(scope + " ")

def print_blocks(rows, depth=0):
    done = []
    for row in rows:
        head, _, rest = row.partition(" > ")
        if head in done:
            continue
        done.append(head)
        print(" " * depth + head)
        print_blocks([one[len(head) + 3:] for one in rows if one.startswith(head + " > ")], depth + 2)

def checkpoint(line):
    return state / f"checkpoint.{line.split()[1]}.json"

died = False
lines = sys.stdin.read().splitlines()
(state / "last").write_text("\n".join(lines))
if "SWALLOWS" in os.environ and not os.environ["SHOW"] in lines:
    sys.exit(0)
opened = []
for raw in lines:
    line = " ".join(raw.split())
    if not line:
        continue
    if os.environ.get("DIES", "nothing at all") in line:  # the connection ends here
        died = True
        break
    if os.environ.get("REFUSE", "nothing at all") in line:
        print("error: syntax error\n% Invalid\nError: refused\nERROR: refused")
    elif line == "show | compare | no-more" and "COMPARE" in os.environ:
        print(os.environ["COMPARE"])
    elif line == os.environ["SHOW"]:
        if prefix:
            print("\n".join(prefix + row for row in config))
        else:
            print_blocks([row for row in config if "service-policy" in row])  # as `show running-config ipqos`
            print_blocks(config)
    elif line.startswith("checkpoint "):
        if checkpoint(line).exists():  # names must be unique
            print("ERROR: checkpoint exists")
        else:
            checkpoint(line).write_text(json.dumps(config))
    elif line.startswith("no checkpoint ") and not checkpoint(line[3:]).exists():
        print("ERROR: checkpoint does not exist")
    elif line.startswith("no checkpoint "):
        checkpoint(line[3:]).unlink()
    elif line == "show checkpoint summary":
        print("\n".join(f"{i}) {one.name.split('.')[1]}:" for i, one in enumerate(sorted(state.glob("checkpoint.*")), 1)))
    elif line.startswith("rollback running-config"):
        config = json.loads(checkpoint(line.removeprefix("rollback running-config ")).read_text())
    elif line in os.environ["ABORT"].splitlines() and line.startswith(("rollback", "discard")):
        if pending.exists():
            pending.unlink()
        config = json.loads(file.read_text())
    elif line in os.environ["COMMIT"].splitlines() and line.startswith("commit"):
        file.write_text(json.dumps(config))
    elif re.sub("dlcp-[a-z]+-[0-9]+", "{id}", line) in os.environ["SAID"].splitlines():
        pass
    elif prefix:
        if line.startswith(prefix):
            row = line[len(prefix):]
            if row not in config:
                config.append(row)
        elif line.startswith(words["flat"]):
            gone = line[len(words["flat"]):]
            config = [row for row in config if not under(row, gone)]
        else:
            print("unknown command: " + line)
    else:
        indent = len(raw) - len(raw.lstrip())
        while opened and opened[-1][0] >= indent:
            opened.pop()
        above = opened[-1][1] + " > " if opened else ""
        if line.startswith("no "):
            gone = above + line[3:]
            if not any(under(row, gone) for row in config):
                print("% Invalid: there is no " + gone)
            config = [row for row in config if not under(row, gone)]
        else:
            row = above + line
            if row not in config:
                config.append(row)
            opened.append((indent, row))
if os.environ["COMMIT"] and json.loads(file.read_text()) != config:
    pending.write_text(json.dumps(config))
elif not os.environ["COMMIT"]:
    file.write_text(json.dumps(config))
elif pending.exists():
    pending.unlink()
sys.exit(255 if died else 0)
'''

class Switch(simulated_switch.Switch):
    def __init__(self, name, folder, text):
        super().__init__(name, folder, {"switch-cli": CLI, "gnmic": GNMIC})
        said = json.loads(subprocess.run(
            ["bash", "-c", f'gnmi= show= pending= prepare= begin= check= abort= forget= commit= confirm= error= keep=; . {self.folder}/session.sh;'
             'python3 -c "import json,sys; print(json.dumps(sys.argv[1:]))"'
             ' "$gnmi" "$show" "$pending" "$begin" "$check" "$abort" "$commit" "$confirm" "$prepare" "$forget"'],
            capture_output=True, text=True, check=True).stdout)
        self.confirmation = said[7].splitlines()
        self.has_checkpoints = bool(said[8])  # instead of sessions
        self.gnmi, self.show = said[0], said[1].splitlines()[-1:] or [""]
        guard_file = next((self.folder / "guard").glob("*.json"))
        rows = json.loads(guard_file.read_text())
        self.prefix = rows["prefix"]
        self.environment.update(DLCP_RUN="switch-cli", SHOW=self.show[0], ABORT=said[5], COMMIT=said[6],
                                PREFIX=self.prefix, SAID="\n".join(said[1:]))
        sys.path.insert(0, str(self.folder))
        import guard  # pylint: disable=import-outside-toplevel
        sys.path.pop(0)
        config = json.loads(text) if self.gnmi else list(dict.fromkeys(guard.statements(rows, text)))
        (self.root / "config.json").write_text(json.dumps(config))

    def running(self):
        """The configuration in the form that the switch prints."""
        if self.gnmi:
            return json.dumps(json.loads((self.root / "config.json").read_text()), sort_keys=True)
        return subprocess.run([str(self.root / "bin" / "switch-cli")], input=self.show[0] + "\n", text=True,
                              capture_output=True, timeout=900, check=True, env=self.environment).stdout

    def statements(self):
        return self.running() if self.gnmi else sorted(json.loads((self.root / "config.json").read_text()))

    def confirms(self, what, changes=1):
        """Expects that the last change is confirmed once, if the system has something to confirm. Without timers, all
        earlier changes are confirmed with it."""
        for times in range(2):
            (self.root / "last").write_text("")
            result = self.run("apply.sh", "--confirm", "leaf")
            sent = [re.sub(r"dlcp-[a-z]+-[0-9]+", "{id}", line) for line in (self.root / "last").read_text().splitlines()]
            expect(result.returncode == 0 and sent == (self.confirmation * changes if times == 0 else []), what, result)

    def change(self, old, new):
        file = self.root / "config.json"
        text = file.read_text()
        expect(old in text, f"{old} is in the configuration")
        file.write_text(text.replace(old, new, 1))


def validated(name, switch, what):
    """True: the vendor's models accept it; None: the models are not available."""
    path = switch.root / "check.conf"
    path.write_text(switch.running())
    done = subprocess.run([sys.executable, str(YANG), "--target", name, str(path)], capture_output=True, text=True,
                          check=False)
    if done.returncode == 77:
        print(done.stdout.strip())
        return None
    expect(done.returncode in (0, 1), f"{what}: {done.stdout}{done.stderr}")
    if done.returncode == 1:
        print(done.stdout)
    return done.returncode == 0


BREAKS = {"srlinux": ("max-drop-probability-percent 100", "max-drop-probability-percent 101"),
          "junos": ("transmit-rate percent", "transmit-speed percent"),
          "openconfig": ('"QUEUE"', '"QUEUES"'),
          "arcos": ('"unit": "kbps"', '"unit": "kb/s"'),
          "iosxr": ('"unit": "ratio"', '"unit": "rate"')}


def lost_connections(switch, imported):
    """The connection ends within the change."""
    result = switch.run("apply.sh", "leaf", DIES="DLCP-1-SITE")
    expect(result.returncode == 4 and "connection ended" in result.stderr, "a lost connection is reported", result)
    expect(switch.statements() == imported, "the lines that the switch has received are reverted", result)
    if not switch.has_checkpoints:
        return
    result = switch.run("apply.sh", "leaf", DIES="DLCP-1-SITE", REFUSE="rollback")
    left = list(switch.root.glob("checkpoint.*"))
    expect(result.returncode == 4 and len(left) == 1, "a checkpoint is kept until it has been restored", result)
    expect("checkpoint " + left[0].suffixes[0][1:] in result.stderr, "the message names it", result)
    (switch.root / "config.json").write_text(left[0].read_text())
    left[0].unlink()


def foreign_rows(switch):
    """A refused change reverts neither the canary nor what others have configured since."""
    file = switch.root / "config.json"
    others = ["interface Vlan77", "interface Vlan77 > no shutdown"]
    file.write_text(json.dumps(json.loads(file.read_text()) + others))
    expected = switch.statements()
    result = switch.run("apply.sh", "leaf", REFUSE="DLCP-1-SITE")
    expect(result.returncode == 4 and switch.statements() == expected, "only this run is reverted", result)
    file.write_text(json.dumps([row for row in json.loads(file.read_text()) if row not in others]))


def dry_run(switch, imported):
    result = switch.run("apply.sh", "--dry-run", "leaf")
    expect(result.returncode == 0, "a dry run", result)
    expect(switch.statements() == imported, "a dry run changes nothing", result)
    if switch.has_checkpoints:
        expect("configure" not in (switch.root / "last").read_text(), "a dry run only reads", result)
        expect("service-policy" in result.stdout, "a dry run prints the lines", result)


def failures(name, switch, imported, port):
    """A change that fails is reported and leaves nothing applied."""
    result = switch.run("apply.sh", "leaf", REFUSE="DLCP-1-SITE")
    expect(result.returncode == 4, "an error of the switch is reported", result)
    expect(switch.statements() == imported, "after an error nothing is applied", result)
    if switch.gnmi:
        gnmi_faults(switch, imported, port)
        return
    lost_connections(switch, imported)
    if name == "junos":  # as it prints a deactivated statement of another user
        result = switch.run("apply.sh", "leaf", COMPARE="[edit protocols bgp]\n!    inactive: multipath;")
        expect(result.returncode == 4 and "other changes are pending" in result.stderr, "pending changes are found", result)
    result = switch.run("apply.sh", "leaf", SWALLOWS="every line")
    expect(result.returncode == 4 and "has not taken effect" in result.stderr, "a change without effect is reported", result)


def applied(switch):
    """Applies and confirms the change. Returns the statements of the planned configuration."""
    result = switch.run("apply.sh", "leaf")
    planned = switch.statements()
    expect(result.returncode == 0 and "DLCP-1-SITE" in switch.running(), "apply works", result)
    expect_nothing_to_do(switch, "apply.sh", "leaf")
    switch.confirms("the change is confirmed")
    expect(switch.statements() == planned, "a confirmation changes nothing")
    return planned


def checked_by_models(name, switch):
    if name not in BREAKS or (valid := validated(name, switch, "the planned configuration")) is None:
        return
    expect(valid, "the vendor's models accept the plan")
    broken = switch.root / "broken.conf"
    broken.write_text(switch.running().replace(*BREAKS[name]))
    done = subprocess.run([sys.executable, str(YANG), "--target", name, str(broken)], capture_output=True,
                          text=True, check=False)
    expect(done.returncode == 1, "the models reject a corrupted plan", done)


def rendered_again(name, switch, render, ports):
    (switch.root / "again").write_text(switch.running())
    again = switch.root / "again.out"
    subprocess.run([render, name, str(again), str(switch.root / "again"), *ports], check=True)
    expect(not again.exists(), f"an applied change renders to no change: {list(again.glob('*'))}")


def drift(name, switch, port):
    """Another user binds a port to another object: rollback refuses."""
    file = switch.root / "config.json"
    kept = file.read_text()
    if switch.gnmi:
        leaf = "service-policy-name" if name == "iosxr" else "name"
        switch.change(f'"{leaf}": "DLCP-1-SITE"', f'"{leaf}": "DLCP-9-SITE"')
    else:
        rows = json.loads((switch.folder / "guard" / "20-ports-01-host.json").read_text())["rows"]
        line = next(scope + rest for scope, row in rows.items() if port in scope for rest in row[1]
                    if "DLCP-1-SITE" in scope + rest)
        switch.change(line, line.replace("DLCP-1-SITE", "OTHER"))
    result = switch.run("rollback.sh", "leaf")
    expect(result.returncode == 3 and "refused" in result.stderr, "rollback refuses a drifted row", result)
    file.write_text(kept)


def canary(switch, imported, planned):
    """Applies one group of ports first, then the rest."""
    result = switch.run("apply.sh", "leaf", "10-definitions", "20-ports-01-host")
    expect(result.returncode == 0 and imported != switch.statements() != planned, "apply changes only the canary", result)
    if switch.has_checkpoints:
        foreign_rows(switch)
    result = switch.run("apply.sh", "leaf")
    expect(result.returncode == 0 and switch.statements() == planned, "then apply changes the rest", result)


def checkpoints(switch, imported):
    """Confirmations of two applied changes on a switch that has checkpoints instead of timers."""
    kept = switch.folder / "applied" / "session"
    os.utime(kept, (0, 0))  # without a timer, an old change can still be confirmed
    first, second = kept.read_text().split()
    (switch.root / f"checkpoint.{first}.json").unlink()  # by hand, or by a reload
    result = switch.run("apply.sh", "--confirm", "leaf", REFUSE=f"no checkpoint {second}")
    expect(result.returncode == 4 and second in result.stderr and first not in result.stderr, "one is left", result)
    expect(kept.read_text().split() == [second], "only that one is tried again", result)
    (switch.root / f"checkpoint.{second}.json").unlink()
    result = switch.run("apply.sh", "--confirm", "leaf")
    expect(result.returncode == 0 and not kept.exists(), "no checkpoint is left to delete", result)
    switch.run("rollback.sh", "leaf")
    switch.run("apply.sh", "leaf")
    for one in switch.root.glob("checkpoint.*"):  # a reload, which also ends a change that was not saved
        one.unlink()
    (switch.root / "config.json").write_text(json.dumps(imported))
    result = switch.run("apply.sh", "--confirm", "leaf")
    expect(result.returncode == 4 and "10-definitions" in result.stderr, "a lost change is not confirmed", result)
    switch.run("apply.sh", "leaf")
    switch.run("rollback.sh", "leaf")
    switch.confirms("both changes are confirmed later", changes=2)
    expect(not list(switch.root.glob("checkpoint.*")), "no checkpoint is left")


def main():
    name, folder, running_file, render, *ports = sys.argv[1:]
    switch = Switch(name, pathlib.Path(folder), pathlib.Path(running_file).read_text())
    port = ports[0].split(",")[0]
    imported = switch.statements()
    expect("SITE" in switch.running(), "the simulated switch has the import")
    dry_run(switch, imported)
    failures(name, switch, imported, port)
    planned = applied(switch)
    checked_by_models(name, switch)
    rendered_again(name, switch, render, ports)
    drift(name, switch, port)
    result = switch.run("rollback.sh", "leaf")
    expect(result.returncode == 0 and switch.statements() == imported, "rollback restores the import", result)
    expect_nothing_to_do(switch, "rollback.sh", "leaf")
    switch.confirms("the rollback is confirmed")
    canary(switch, imported, planned)
    if switch.has_checkpoints:
        checkpoints(switch, imported)
    switch.remove()
    print("apply.sh and rollback.sh: all expectations hold")


if __name__ == "__main__":
    main()
