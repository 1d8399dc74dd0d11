#!/usr/bin/env python3
"""Runs the generated apply.sh and rollback.sh of an EOS switch against a simulated CLI.

usage: eos_apply.py FOLDER RUNNING RENDER   (RENDER FOLDER RUNNING renders again and must change nothing)

The simulation implements show running-config and configure sessions with the statements that DLCP writes, and
prints the DSCP map in groups, as EOS does. Exit: 0 if all expectations hold."""

import os
import pathlib
import subprocess
import sys

import simulated_switch
from simulated_switch import expect, expect_nothing_to_do

SIMULATION = r'''#!/usr/bin/env python3
import json, os, pathlib, re, sys
state = pathlib.Path(os.environ["STATE"])
file = state / "config.json"
OPENS = ("qos profile ", "interface ", "policy-map ", "class-map ")
SUBS = re.compile(r"(tx-queue|uc-tx-queue|mc-tx-queue) \d+$|class ")

def fresh():
    return {"maps": {}, "blocks": {}, "rest": []}

def numbers(text):
    for word in text.replace(",", " ").split():
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)

class Cli:
    def __init__(self, config):
        self.config, self.block = config, None

    def line(self, raw):
        line = raw.strip()
        mapped = re.fullmatch(r"(no )?qos map (dscp|traffic-class) ([\d ,-]+?)(?: to (.*))?", line)
        if mapped:
            for number in numbers(mapped[3]):
                key = f"{mapped[2]} {number}"
                if mapped[1]:
                    del self.config["maps"][key]
                else:
                    self.config["maps"][key] = mapped[4]
            self.block = None
        elif line.startswith("no ") and line[3:].startswith(OPENS):
            del self.config["blocks"][line[3:]]
        elif line.startswith(OPENS):
            self.block, self.sub = self.config["blocks"].setdefault(line, {"": []}), ""
        elif self.block is not None and raw.startswith(" "):
            if not raw.startswith("    "):
                self.sub = ""
            if SUBS.match(line):
                self.sub = line
                self.block.setdefault(line, [])
                return
            verb = line.split(" ")[1 if line.startswith("no ") else 0]
            own = self.block[self.sub]
            if verb == "service-profile":
                own[:] = [one for one in own if not one.startswith(verb)]
            if line not in own and line != "no service-profile":
                own.append(line)
        elif line.startswith(("hostname", "ip ")):
            self.config["rest"].append(line)
            self.block = None
        else:
            print("% Invalid input: " + line)

def show(config):
    groups = {}
    for key, to in config["maps"].items():
        kind, number = key.split()
        groups.setdefault((kind, to), []).append(int(number))
    for (kind, to), all_numbers in sorted(groups.items()):
        print(f"qos map {kind} {' '.join(map(str, sorted(all_numbers)))} to {to}")
    for head, block in sorted(config["blocks"].items()):
        print("!\n" + head)
        for sub, lines in block.items():
            if sub:
                print("   !\n   " + sub)
            for line in lines:
                print(("      " if sub else "   ") + line)
    for line in config["rest"]:
        print("!\n" + line)

def load():
    return json.loads(file.read_text())

session = None
for raw in sys.stdin.read().splitlines():
    line = raw.strip()
    words = line.split()
    pending = state / "session.json"
    if line in ("enable", "terminal length 0"):
        pass
    elif line == "show running-config":
        show(load())
    elif words[:2] == ["configure", "session"] and len(words) == 3:
        session = Cli(load())
    elif words[:2] == ["configure", "session"]:
        timed = state / "timed"
        if words[3:] == ["commit"] and timed.exists() and timed.read_text() == words[2]:
            timed.unlink()
        elif words[3] == "commit" and pending.exists():
            pending.replace(file)
            if words[4:5] == ["timer"]:
                timed.write_text(words[2])
        elif words[3] == "commit":
            print("% Cannot commit session " + words[2])
        else:
            pending.unlink()
    elif line == "show session-config diffs":
        print("(diffs)")
    elif line == "end":
        pending.write_text(json.dumps(session.config))
    elif os.environ.get("IGNORE", "nothing") in line:
        pass
    elif os.environ.get("REFUSE", "nothing") in line:
        print("% Invalid input: " + line)
    else:
        session.line(raw)
'''


class Switch(simulated_switch.Switch):
    def __init__(self, folder, text):
        super().__init__("eos", folder, {"eos-cli": SIMULATION})
        self.environment["DLCP_RUN"] = "eos-cli"
        (self.root / "config.json").write_text('{"maps": {}, "blocks": {}, "rest": []}')
        lines = [l for l in text.splitlines() if l.strip() not in ("", "!", "end") and not l.startswith("!")]
        self.cli("configure session load", *lines, "end", "configure session load commit")

    def cli(self, *lines):
        return subprocess.run([str(self.root / "bin" / "eos-cli")], input="\n".join(lines) + "\n", text=True,
                              capture_output=True, timeout=900, check=True, env=self.environment).stdout

    def running(self):
        return self.cli("show running-config")


def main():
    folder, running_file = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    switch = Switch(folder, running_file.read_text())
    imported = switch.running()
    expect("service-profile STORAGE" in imported, "the simulated switch has the import")

    result = switch.run("apply.sh", "--dry-run", "leaf")
    expect(result.returncode == 0 and switch.running() == imported, "a dry run changes nothing", result)
    result = switch.run("apply.sh", "leaf", REFUSE="shape rate 20000000")
    expect(result.returncode == 4 and switch.running() == imported, "after an error of EOS nothing is applied", result)
    result = switch.run("apply.sh", "leaf", REFUSE="no qos profile DLCP-1-STORAGE")
    expect(result.returncode == 4 and switch.running() == imported, "a change whose rollback EOS refuses is not applied", result)
    expect("in a trial session" in result.stderr, "the message says so", result)
    result = switch.run("apply.sh", "leaf")
    planned = switch.running()
    expect(result.returncode == 0 and "service-profile DLCP-1-STORAGE" in planned, "apply works", result)
    expect_nothing_to_do(switch, "apply.sh", "leaf")
    timer = switch.root / "timed"
    expect(timer.exists(), "EOS reverts the change unless it is confirmed")
    result = switch.run("apply.sh", "--confirm", "leaf")
    expect(result.returncode == 0 and not timer.exists(), "the session of the change is confirmed", result)
    result = switch.run("apply.sh", "--confirm", "leaf")
    expect(result.returncode == 0 and "nothing to confirm" in result.stdout, "a second time does nothing", result)
    if len(sys.argv) > 3:
        (switch.root / "again.eos").write_text(planned)
        again = switch.root / "again"
        subprocess.run([sys.argv[3], "eos", str(again), str(switch.root / "again.eos"), *sys.argv[4:]], check=True)
        expect(not again.exists(), f"an applied change renders to no change: {list(again.glob('*'))}")

    switch.cli("configure session x", "qos map dscp 40 to traffic-class 1", "end", "configure session x commit")
    result = switch.run("rollback.sh", "leaf")
    expect(result.returncode == 3 and "dscp 40" in result.stderr, "rollback refuses a drifted row", result)
    switch.cli("configure session x", "qos map dscp 40 to traffic-class 7 drop-precedence 0", "end",
               "configure session x commit")
    rows = (switch.root / "config.json").read_text()
    result = switch.run("rollback.sh", "leaf", IGNORE="no qos profile")
    expect(result.returncode == 4 and "has not taken effect" in result.stderr, "an incomplete rollback is reported", result)
    expect(list((switch.folder / "applied").glob("*.txt")), "the texts for the next rollback are kept", result)
    (switch.root / "config.json").write_text(rows)  # the timer has run out
    timer.unlink()
    result = switch.run("rollback.sh", "leaf")
    expect(result.returncode == 0 and switch.running() == imported, "rollback restores the import", result)
    expect_nothing_to_do(switch, "rollback.sh", "leaf")
    result = switch.run("apply.sh", "--confirm", "leaf")
    expect(result.returncode == 0 and not timer.exists(), "the session of the rollback is confirmed", result)
    (switch.folder / "applied" / "session").write_text("dlcp-apply-1")
    result = switch.run("apply.sh", "--confirm", "leaf")
    expect(result.returncode == 4 and "refused to confirm" in result.stderr, "a refused confirmation is reported", result)
    os.utime(switch.folder / "applied" / "session", (0, 0))
    for _ in range(2):
        result = switch.run("apply.sh", "--confirm", "leaf")
        expect(result.returncode == 4 and "minutes has expired" in result.stderr, "a late confirmation is an error", result)
    expect_nothing_to_do(switch, "rollback.sh", "leaf")
    result = switch.run("apply.sh", "--confirm", "leaf")
    expect(result.returncode == 0 and "nothing to confirm" in result.stdout, "until the state is known again", result)

    result = switch.run("apply.sh", "leaf", "10-definitions", "20-ports-01-host")
    expect(result.returncode == 0 and imported != switch.running() != planned, "apply changes only the canary", result)
    result = switch.run("apply.sh", "leaf")
    expect(result.returncode == 0 and switch.running() == planned, "then apply changes the rest", result)
    switch.run("rollback.sh", "leaf")

    switch.cli("configure session x", "interface Ethernet1/1", "   service-profile OTHER", "end",
               "configure session x commit")
    result = switch.run("apply.sh", "leaf")
    expect(result.returncode == 3 and "Ethernet1/1" in result.stderr, "apply refuses a port that was changed", result)
    switch.remove()
    print("apply.sh and rollback.sh: all expectations hold")


if __name__ == "__main__":
    main()
