#!/usr/bin/env python3
"""Tests the files of `dlcp-switch rollout`. If Ansible is installed, it runs them here, with simulated switches.

  rollout_test.py DLCP_SWITCH"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
ANSIBLE = shutil.which("ansible-playbook")
HOSTS = {"leaf1": ("cumulus", "5.15", "spectrum4", "swp[1-4]", "swp[5-6]"),
         "leaf2": ("eos", "4.31.1F", "tomahawk4", "Ethernet[1-4]/1", "Ethernet[31-32]/1"),
         "leaf3": ("junos", "24.4R1", "tomahawk4", "et-0/0/[0-2]", "et-0/0/[31-32]"),
         "leaf4": ("sonic", "202411", "tomahawk4", "Ethernet[0-16:8]", "Ethernet[32-40:8]"),
         "leaf5": ("iosxr", "25.3", "silicon-one-g200", "FourHundredGigE0/0/0/[0-1]", "FourHundredGigE0/0/0/[30-31]")}
FABRIC = """fabric: {name: pod, base_rtt: 14us, link_speed: 400G, incast_degree: 4}
dlcp: {queues: {control: 5, exact: 4, urgent: 2, bulk: 1}}
site:
  dscp_map: {26: 3, 48: 6}
  pfc_priorities: [3]
  may_take_queues: [4]
  queues:
    - {queue: 0, weight: 20}
    - {queue: 3, name: roce, weight: 20, lossless: yes}
    - {queue: 6, name: cnp, strict: yes}
switches:
"""

# Every command of a switch: writes a line to the log, and prints what the health commands count.
COMMAND = r"""#!/bin/bash
name=$(basename "$0")
if [ "$name" = sudo ]; then AS_ROOT=1 exec "$@"; fi
if [ "$name" = config ] && [ -z "$AS_ROOT" ]; then echo "Root privileges are required for this operation"; exit 1; fi
case "$name $*" in
  "ssh -T"*) echo "$DLCP_SWITCH: $(paste -sd';')" >>"$STATE/log" ;;
  "nv config apply --confirm-yes")
    echo "$DLCP_SWITCH: confirm" >>"$STATE/log"
    [ -e "$STATE/timer-$DLCP_SWITCH" ] || { echo "nothing is pending" >&2; exit 1; }
    rm "$STATE/timer-$DLCP_SWITCH" ;;
  nv* | config*) echo "$DLCP_SWITCH: $name $*" >>"$STATE/log" ;;
  *) echo "$DLCP_SWITCH: health" >>"$STATE/log"
    if [ -e "$STATE/is-worse" ] && [ -e "$STATE/applied-$DLCP_SWITCH" ]; then exit 0; fi
    echo '"state": "Established"'
    echo 'swp1 UP ' # of ip
    echo 'Et1 connected ' # of EOS
    echo 'Ethernet0 up  up ' ;; # of SONiC
esac
"""

# In place of the rendered apply.sh and rollback.sh, with their messages and their timed commits.
SCRIPT = r"""#!/bin/bash
verb=$(basename "$0" .sh)
is_timed=$(cat timed 2>/dev/null)
if [ "$1" = --confirm ]; then
  echo "$DLCP_SWITCH: confirm" >>"$STATE/log"
  rm "$STATE/timer-$DLCP_SWITCH" 2>/dev/null || echo "nothing to confirm"
  exit
fi
echo "$DLCP_SWITCH: $verb $(ls *.yaml 2>/dev/null | paste -sd' ')" >>"$STATE/log"
if [ "$verb" = apply ] && [ -e "$STATE/refuses-$DLCP_SWITCH" ]; then exit 4; fi
mark=$STATE/applied-$DLCP_SWITCH
if [ "$verb" = "$([ -e "$mark" ] && echo apply || echo rollback)" ]; then
  echo "nothing to do: every row already has the state after this $verb"
  exit
fi
if [ "$verb" = apply ]; then touch "$mark"; else rm "$mark"; fi
if [ -n "$is_timed" ]; then touch "$STATE/timer-$DLCP_SWITCH"; fi
"""


class Rollout(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.out = self.folder / "out"

    def tearDown(self):
        self.scratch.cleanup()

    def write(self, *arguments, switches=HOSTS):
        text = FABRIC
        for name, (system, version, asic, hosts, uplinks) in switches.items():
            text += (f"  - name: \"{name}\"\n    os: {system}\n    version: \"{version}\"\n    asic: {asic}\n    role: leaf\n"
                     f"    ports:\n      - {{ports: \"{hosts}\", role: host, trust: dscp}}\n"
                     f"      - {{ports: \"{uplinks}\", role: fabric}}\n")
        (self.folder / "intent.yaml").write_text(text)
        done = subprocess.run([PROGRAM, "rollout", "intent.yaml", "-o", "out", "--canary-minutes", "0",
                               "--batch-minutes", "0", *arguments], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def simulate(self, switches=HOSTS):
        """A folder for each switch, and the commands that its scripts and the inventory name."""
        (self.folder / "bin").mkdir()
        for name in ("ssh", "nv", "config", "sudo", "vtysh", "ip", "show"):
            (self.folder / "bin" / name).write_text(COMMAND)
            (self.folder / "bin" / name).chmod(0o755)
        for name, (system, *_) in switches.items():
            (self.out / name).mkdir(parents=True)
            for script in ("apply.sh", "rollback.sh"):
                (self.out / name / script).write_text(SCRIPT)
            if system in ("cumulus", "eos", "junos"):
                (self.out / name / "timed").write_text("1")
        (self.out / "here.yml").write_text("all: {vars: {ansible_connection: local, ansible_python_interpreter: "
                                           "\"{{ ansible_playbook_python }}\"}}\n")

    def play(self, book, *arguments):
        (self.folder / "log").write_text("")
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "STATE": str(self.folder), "HOME": str(self.folder),
                       "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        done = subprocess.run([ANSIBLE, "-i", "here.yml", "-i", "inventory.yml", book, "-e", "dlcp_drained=true", "-e", "dlcp_settle=0", *arguments],
                              cwd=self.out, capture_output=True, text=True, timeout=900, env=environment)
        self.said = done.stdout + done.stderr
        return done.returncode

    def log(self, name):
        """The calls of a switch in order, with equal lines that follow each other as one."""
        lines = [line.partition(": ")[2].strip() for line in (self.folder / "log").read_text().splitlines()
                 if line.startswith(name + ":")]
        return [line for at, line in enumerate(lines) if at == 0 or line != lines[at - 1]]

    def timers(self):
        return sorted(path.name for path in self.folder.glob("timer-*"))

    def test_the_commit_is_confirmed_before_the_wait_and_after_a_rollback(self):
        self.write()
        change = (self.out / "change.yml").read_text()
        steps = ["Apply", "Check the health before the confirmation", "Confirm the timed commit", "Wait under load"]
        self.assertEqual(sorted(steps, key=lambda step: change.index(f"name: {step}")), steps)
        for name in ("undo.yml", "back.yml"):
            text = (self.out / name).read_text()
            self.assertLess(text.index("{{ dlcp_rollback }}"), text.rindex("{{ dlcp_confirm }}"), name)

    def test_systems_without_health_commands_are_named(self):
        self.write()
        inventory = (self.out / "inventory.yml").read_text()
        self.assertEqual(re.findall(r"dlcp_health:\n(?! +- )", inventory), [])  # null instead of a list
        self.assertEqual(inventory.count("dlcp_health: []"), 2)
        self.assertEqual(inventory.count("ansible_host is ADDRESS:PORT"), 1)  # iosxr
        self.assertIn("no automatic stop on iosxr, junos:", " ".join((self.out / "ROLLOUT.md").read_text().split()))

    @unittest.skipUnless(ANSIBLE, "ansible-playbook is not there (package ansible-core)")
    def test_ansible_reads_it(self):
        self.write()
        self.simulate()
        for book in ("playbook.yml", "rollback.yml"):
            self.assertEqual(self.play(book, "--syntax-check"), 0, self.said)

    @unittest.skipUnless(ANSIBLE, "ansible-playbook is not there (package ansible-core)")
    def test_ansible_changes_all_switches_and_back(self):
        self.write()
        self.simulate()
        self.assertEqual(self.play("playbook.yml"), 0, self.said)
        self.assertEqual(self.log("leaf1"), ["health", "apply", "health", "confirm", "health", "nv config save"])
        self.assertEqual(self.log("leaf2"), ["health", "apply", "health", "confirm", "health", "enable;write"])
        self.assertEqual(self.log("leaf3"), ["apply", "confirm"])
        self.assertEqual(self.log("leaf4"), ["health", "apply", "health", "config save -y"])
        self.assertEqual(self.log("leaf5"), ["apply"])
        self.assertEqual(self.timers(), [])
        self.assertEqual(self.play("rollback.yml"), 0, self.said)
        self.assertEqual(self.log("leaf1"), ["rollback", "confirm", "nv config save"])
        self.assertEqual(self.log("leaf2"), ["rollback", "confirm", "enable;write"])
        self.assertEqual(self.log("leaf3"), ["rollback", "confirm"])
        self.assertEqual(self.timers(), [])

    @unittest.skipUnless(ANSIBLE, "ansible-playbook is not there (package ansible-core)")
    def test_a_rollback_after_worse_health_is_confirmed_and_saved(self):
        self.write()
        self.simulate()
        (self.folder / "is-worse").write_text("")
        for name, saved in (("leaf1", "nv config save"), ("leaf2", "enable;write")):
            self.assertNotEqual(self.play("playbook.yml", "--limit", name), 0, self.said)
            self.assertIn(f"{name} was rolled back", self.said)
            self.assertEqual(self.log(name), ["health", "apply", "health", "confirm", "rollback", "confirm", saved])
            self.assertEqual(self.timers(), [])

    @unittest.skipUnless(ANSIBLE, "ansible-playbook is not there (package ansible-core)")
    def test_patches_of_an_earlier_rollout_are_removed_from_the_switch(self):
        self.write()
        self.simulate()
        (self.out / "leaf1" / "20-new.yaml").write_text("")
        place = self.folder / "place"
        place.mkdir()
        for book, verb in (("playbook.yml", "apply"), ("rollback.yml", "rollback")):
            (place / "10-old.yaml").write_text("")
            self.assertEqual(self.play(book, "--limit", "leaf1", "-e", f"dlcp_place={place}"), 0, self.said)
            self.assertIn(f"{verb} 20-new.yaml", self.log("leaf1"))
        for name in HOSTS:  # the rendered folders stay, also those whose scripts run here
            self.assertTrue((self.out / name / "apply.sh").exists(), name)

    @unittest.skipUnless(ANSIBLE, "ansible-playbook is not there (package ansible-core)")
    def test_a_rollout_that_was_interrupted_saves_when_it_is_run_again(self):
        self.write()
        self.simulate()
        for name in HOSTS:
            (self.folder / f"applied-{name}").write_text("")
        (self.folder / "timer-leaf2").write_text("")
        self.assertEqual(self.play("playbook.yml"), 0, self.said)
        self.assertEqual(self.log("leaf1"), ["health", "apply", "health", "confirm", "health", "nv config save"])  # nothing is pending
        self.assertEqual(self.timers(), [])
        for name, saved in (("leaf1", "nv config save"), ("leaf2", "enable;write"), ("leaf4", "config save -y")):
            self.assertEqual(self.log(name)[-2:], ["health", saved])

    @unittest.skipUnless(ANSIBLE, "ansible-playbook is not there (package ansible-core)")
    def test_a_switch_of_a_batch_is_rolled_back_before_the_others_wait(self):
        switches = {name: HOSTS["leaf2"] for name in ("a", "b", "c")}
        self.write("--serial", "2", switches=switches)
        self.simulate(switches)
        (self.folder / "refuses-b").write_text("")
        self.assertNotEqual(self.play("playbook.yml"), 0, self.said)
        self.assertIn("b was rolled back", self.said)
        self.assertEqual(self.log("c"), ["health", "apply", "health", "confirm", "health", "enable;write"])
        lines = (self.folder / "log").read_text().splitlines()
        self.assertLess(lines.index("b: rollback "), len(lines) - lines[::-1].index("c: health") - 1)

    @unittest.skipUnless(ANSIBLE, "ansible-playbook is not there (package ansible-core)")
    def test_a_rollback_uses_the_files_that_were_applied(self):
        self.write()
        self.simulate()
        place = self.folder / "place"
        (self.out / "leaf1" / "20-first.yaml").write_text("")
        self.assertEqual(self.play("playbook.yml", "--limit", "leaf1", "-e", f"dlcp_place={place}"), 0, self.said)
        (self.out / "leaf1" / "20-first.yaml").rename(self.out / "leaf1" / "20-second.yaml")
        self.assertEqual(self.play("rollback.yml", "--limit", "leaf1", "-e", f"dlcp_place={place}"), 0, self.said)
        self.assertIn("rollback 20-first.yaml", self.log("leaf1"))
        self.assertFalse(pathlib.Path(f"{place}.applied").exists())
        self.assertNotIn("any_errors_fatal", (self.out / "rollback.yml").read_text())  # a switch that refuses stops no other

    def test_only_lossless_classes_count_as_lossless(self):
        self.write()
        inventory = (self.out / "inventory.yml").read_text()
        self.assertIn("'leaf4': {dlcp_lossless: '3'}", inventory)
        command = re.search(r"name: lossless_drops, may_grow: false, command: '((?:[^']|'')*)'", inventory)[1].replace("''", "'")
        (self.folder / "show").write_text("#!/bin/sh\ncat \"$STATE/shown\"\n")
        (self.folder / "show").chmod(0o755)
        for shown, expected in (("1,200 0", "0"), ("1,200 1,007", "1007")):
            rows = "".join(f"{port}  {shown}  5\n" for port in ("Ethernet0",))
            (self.folder / "shown").write_text(f"Ingress PG dropped packets:\n  Port  PG0  PG3  PG4\n----  ---  ---  ---\n{rows}")
            done = subprocess.run(["bash", "-c", command.replace("{{ dlcp_lossless }}", "3")], capture_output=True, text=True,
                                  env={**os.environ, "STATE": str(self.folder), "PATH": f"{self.folder}:{os.environ['PATH']}"})
            self.assertEqual(done.stdout.strip(), expected, done.stderr)

    def test_names_that_look_like_numbers_are_names(self):
        self.write(switches={name: HOSTS["leaf2"] for name in ("0101", "1e3", "yes")})
        inventory = (self.out / "inventory.yml").read_text()
        for name in ("0101", "1e3", "yes"):
            self.assertIn(f"        '{name}':", inventory)
        if shutil.which("ansible-inventory"):
            said = subprocess.run(["ansible-inventory", "-i", "inventory.yml", "--list"], cwd=self.out, capture_output=True, text=True)
            self.assertIn("0101", json.loads(said.stdout)["dlcp_eos"]["hosts"], said.stderr)

    def test_names_of_groups_and_folders_are_refused(self):
        for name in ("all", "kept", "localhost", "telemetry", "ungrouped", "dlcp_eos"):
            with self.subTest(name), self.assertRaisesRegex(AssertionError, "wrong value of name"):
                self.write(switches={name: HOSTS["leaf2"]})


if __name__ == "__main__":
    unittest.main()
