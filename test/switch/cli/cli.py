#!/usr/bin/env python3
"""Runs dlcp-switch like a user: verbs, exit codes, JSON, and the files that are written.

  cli.py DLCP_SWITCH"""

import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
OK, WRONG, USAGE, REFUSED, DIFFERS, FILES = range(6)


class Cli(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)

    def tearDown(self):
        self.scratch.cleanup()

    def run_verb(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, check=False)
        self.said = done.stdout + done.stderr
        self.out = done.stdout
        return done.returncode

    def sample(self, *edits):
        text = subprocess.run([PROGRAM, "init", "-"], capture_output=True, text=True, check=True).stdout
        for before, after in edits:
            self.assertIn(before, text)
            text = text.replace(before, after)
        (self.folder / "intent.yaml").write_text(text)

    def tree(self):
        return {str(path.relative_to(self.folder)): path.read_text()
                for path in (self.folder / "out").rglob("*") if path.is_file()}

    def test_init_writes_a_sample_that_checks_and_never_overwrites(self):
        self.assertEqual(self.run_verb("init"), OK)
        self.assertEqual(self.run_verb("check", "intent.yaml"), OK)
        self.assertIn("0 errors", self.said)
        (self.folder / "intent.yaml").write_text("mine")
        self.assertEqual(self.run_verb("init"), FILES)
        self.assertEqual((self.folder / "intent.yaml").read_text(), "mine")

    def test_init_with_an_existing_intent_writes_only_the_classes(self):
        (self.folder / "intent.yaml").write_text("mine")
        self.assertEqual(self.run_verb("init", "--classes", "classes.conf"), OK)
        self.assertIn("wrote classes.conf", self.out)
        self.assertEqual((self.folder / "intent.yaml").read_text(), "mine")
        self.assertIn("control.dscp = 43", (self.folder / "classes.conf").read_text())
        self.assertEqual(self.run_verb("init", "--classes", "classes.conf"), FILES)

    def test_help_fits_the_terminal(self):
        verbs = ("init", "plan", "check", "render", "diff", "verify", "trace", "rollout", "telemetry", "keys", "targets")
        for verb in ([], *([verb] for verb in verbs)):
            self.assertEqual(self.run_verb(*verb, "--help"), OK)
            self.assertEqual([line for line in self.out.splitlines() if len(line) > 80], [])
        self.assertIn("\n  --captured TEXT         File with the", subprocess.run(
            [PROGRAM, "verify", "--help"], capture_output=True, text=True, check=True).stdout)

    def test_tables_are_lists_on_a_terminal(self):
        for verb in (["keys"], ["targets"], ["targets", "--features"]):
            here, there = pty.openpty()
            fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
            with subprocess.Popen([PROGRAM, *verb], stdout=there) as process:
                os.close(there)
                text = b""
                try:
                    while part := os.read(here, 65536):
                        text += part
                except OSError:  # the program has closed the terminal
                    pass
                self.assertEqual(process.wait(60), OK)
            os.close(here)
            lines = text.decode().splitlines()
            self.assertLess(10, len(lines))
            self.assertEqual([line for line in lines if len(line) > 80 or line.startswith("|")], [])
            self.assertEqual(self.run_verb(*verb), OK)
            self.assertTrue(self.out.startswith("| "))

    def test_plan_prints_numbers_and_explains_them(self):
        self.sample()
        self.assertEqual(self.run_verb("plan", "intent.yaml"), OK)
        self.assertIn("4 equal switches, leaf1 to leaf4", self.out)
        self.assertNotIn("why:", self.out)
        self.assertIn("\n4 equal switches", "\n" + self.out)
        table = [line for line in self.out.splitlines() if line.startswith("  queue") or "weight" in line]
        self.assertLess(1, len(table))
        self.assertEqual(len({line.index("DSCPs") for line in table if "DSCPs" in line}), 1)
        self.assertEqual([line for line in table if len(line) > 80], [])
        self.assertEqual(self.run_verb("plan", "intent.yaml", "--explain"), OK)
        self.assertIn("why: ", self.out)

    def test_json_is_json_and_has_every_dscp(self):
        self.sample()
        self.assertEqual(self.run_verb("plan", "intent.yaml", "--json", "--switch", "leaf2"), OK)
        [switch] = json.loads(self.out)["switches"]
        self.assertEqual(switch["name"], "leaf2")
        self.assertEqual([row["dscp"] for row in switch["dscps"]], list(range(64)))
        self.assertEqual(sum(row["owner"] == "dlcp" for row in switch["dscps"]), 7)
        for verb in (["check"], ["diff"], ["verify"], ["render", "-o", "out"]):
            self.run_verb(verb[0], "intent.yaml", "--json", *verb[1:])
            json.loads(self.out)

    def test_warnings_fail_only_a_strict_check(self):
        self.sample()
        self.assertEqual(self.run_verb("check", "intent.yaml"), OK)
        self.assertEqual(self.run_verb("check", "intent.yaml", "--strict"), WRONG)

    def test_many_errors_of_one_kind_are_shortened_and_their_hint_is_printed_once(self):
        entry = ("  - {{name: leaf{}, os: sonic, version: \"202311\", asic: tomahawk4, role: leaf,\n"
                 "     ports: [{{ports: Ethernet0, role: host}}]}}\n")
        (self.folder / "intent.yaml").write_text(
            "fabric: {name: pod, base_rtt: 12us, link_speed: 400G}\nsite: {dscp_map: {24: 3}}\nswitches:\n"
            + "".join(entry.format(number) for number in range(200)))
        self.assertEqual(self.run_verb("check", "intent.yaml"), WRONG)
        self.assertEqual(self.said.count("error:"), 10)
        self.assertIn("... and 190 more like these; --all prints them", self.said)
        self.assertIn("intent.yaml:5: error: host ports of switch 'leaf0'", self.said)
        self.assertEqual(self.said.count("hint"), 1)
        self.assertIn("hint for these 200 (intent.yaml:5, intent.yaml:7, intent.yaml:9 and 197 more): ", self.said)
        self.assertIn("200 errors", self.said)
        for verb in ("plan", "diff", "render", "verify", "rollout", "telemetry"):
            self.assertEqual(self.run_verb(verb, "intent.yaml"), WRONG)
            self.assertEqual((self.said.count("error:"), self.said.count("hint")), (10, 1), verb)
        self.assertEqual(self.run_verb("check", "intent.yaml", "--all"), WRONG)
        self.assertEqual((self.said.count("error:"), self.said.count("hint")), (200, 1))
        self.assertEqual(self.run_verb("check", "intent.yaml", "--json"), WRONG)
        problems = json.loads(self.out)["problems"]
        self.assertEqual(len(problems), 200)
        self.assertEqual(len({problem["hint"] for problem in problems}), 1)

    def test_switches_with_equal_changes_or_commands_are_printed_together(self):
        self.sample()
        self.assertEqual(self.run_verb("diff", "intent.yaml"), DIFFERS)
        heads = [line for line in self.out.splitlines() if line.endswith(" change")]
        self.assertEqual([line.rsplit(":", 1)[0] for line in heads], ["leaf1, leaf2, leaf3 and 3 more"])
        self.assertEqual(self.run_verb("diff", "intent.yaml", "--all"), DIFFERS)
        self.assertTrue(self.out.startswith("leaf1, leaf2, leaf3, leaf4, spine1, spine2: "))
        self.assertEqual(self.run_verb("verify", "intent.yaml"), OK)
        self.assertIn("# leaf1, leaf2, leaf3, leaf4\n", self.out)

    def test_render_writes_a_folder_per_switch_and_is_repeatable(self):
        self.sample()
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        first = self.tree()
        self.assertEqual(sum(path.endswith("REPORT.md") for path in first), 6)
        self.assertIn("out/FABRIC.md", first)
        self.assertIn("Not verified on hardware", first["out/leaf1/REPORT.md"])
        beside = {"out/leaf1/applied.txt": "what the switch said", "out/notes.txt": "kept"}
        for path, text in beside.items():
            (self.folder / path).write_text(text)
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out/"), OK)
        self.assertEqual(self.tree(), {**first, **beside})
        self.assertFalse((self.folder / "out.partial").exists())
        self.assertFalse((self.folder / "out" / ".partial").exists())

    def test_a_second_render_keeps_the_rollback_of_the_first(self):
        self.sample()
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        first = self.tree()
        (self.folder / "out" / "leaf1" / "mine.txt").write_text("an operator's")
        self.sample(("incast_degree: 4", "incast_degree: 8"))
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        self.assertIn("kept the former folder leaf1", self.said)
        [kept] = (self.folder / "out" / "kept").glob("leaf1-*")
        self.assertEqual((kept / "mine.txt").read_text(), "an operator's")
        for path, text in first.items():
            if path.startswith("out/leaf1/"):
                self.assertEqual((kept / path.removeprefix("out/leaf1/")).read_text(), text)
        self.assertNotEqual(self.tree()["out/leaf1/REPORT.md"], first["out/leaf1/REPORT.md"])
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        self.assertEqual(len(list((self.folder / "out" / "kept").glob("leaf1-*"))), 1)

    def test_a_render_into_a_mount_point_is_complete_or_reverted(self):
        unshare = ["unshare", "--map-root-user", "--mount", "sh", "-ec"]
        if subprocess.run([*unshare, "mount -t tmpfs none ."], cwd=self.folder, capture_output=True, check=False).returncode:
            self.skipTest("this user may not mount")
        render = f"'{PROGRAM}' render intent.yaml -o out"
        self.sample()
        (self.folder / "first.yaml").write_text((self.folder / "intent.yaml").read_text())
        self.sample(("incast_degree: 4", "incast_degree: 8"))
        (self.folder / "out").mkdir()

        def run(script):
            done = subprocess.run([*unshare, script], cwd=self.folder, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr
        code, said = run(f"mount -t tmpfs none out; {render.replace('intent', 'first')}; {render}; ls -A out; "
                         "ls out/kept | grep -c leaf1-")
        self.assertEqual(code, OK, said)
        self.assertIn("\nFABRIC.md\nkept\nleaf1\nleaf2\nleaf3\nleaf4\nspine1\nspine2\n1\n", said)
        # A switch's folder that cannot be moved, because it is a mount point, is replaced as little as the others.
        code, said = run(f"{render.replace('intent', 'first')}; cp -r out before; mount -t tmpfs none out/leaf3; "
                         f"touch out/leaf3/x; ! {render} || exit 9; umount out/leaf3; diff -r out before")
        self.assertEqual(code, OK, said)
        self.assertIn("nothing was written", said)

    def test_stale_folders_of_removed_switches_are_listed(self):
        self.sample()
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        self.sample(("leaf[1-4]", "leaf[1-3]"))
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        self.assertIn("stale: the intent has no switch leaf4", self.said)
        self.assertTrue((self.folder / "out" / "leaf4" / "rollback.sh").exists())
        (self.folder / "out" / "leaf4").rename(self.folder / "out" / "leaf3.applied")
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        self.assertNotIn("stale", self.said)

    def test_a_trace_shows_every_class_at_every_port(self):
        self.sample(("role: host, trust: dscp}", "role: host, trust: dscp, hosts: \"gpu[1-16]\"}"),
                    ("- name: leaf[1-4]", "- name: leaf1"))
        self.assertEqual(self.run_verb("trace", "intent.yaml", "--from", "gpu1", "--to", "gpu16", "--json"), OK)
        [path] = json.loads(self.out)["paths"]
        self.assertEqual(path["switches"], ["leaf1"])
        self.assertEqual(len(path["classes"]), 7)
        self.sample()
        self.assertEqual(self.run_verb("trace", "intent.yaml", "--from", "leaf1", "--to", "leaf2:Ethernet8",
                                       "--class", "bulk-protected", "--json"), OK)
        [path] = json.loads(self.out)["paths"]
        self.assertEqual(path["switches"], ["leaf1", "spine1", "leaf2"])
        [one] = path["classes"]
        self.assertTrue(one["unchanged"])
        self.assertEqual([hop["node"] for hop in one["hops"]], ["leaf1", "leaf1", "spine1", "leaf2", "leaf2:Ethernet8"])
        self.assertEqual({hop["dscp_out"] for hop in one["hops"]}, {10})
        for hop in one["hops"][1:-1]:
            self.assertIn("bulk", hop["carries"])
            self.assertEqual(hop["colour"], "green")
        self.assertEqual(one["hops"][3]["port"], "Ethernet8")

    def test_a_trace_reports_unknown_names(self):
        self.sample()
        for arguments, said in ((["--from", "leaf9", "--to", "leaf1"], "did you mean 'leaf1'?"),
                                (["--from", "spine1", "--to", "leaf1"], "there is no host with this name"),
                                (["--from", "leaf1", "--to", "leaf2", "--class", "bulk"], "there is no class with this name")):
            self.assertEqual(self.run_verb("trace", "intent.yaml", *arguments), WRONG)
            self.assertIn(said, self.said)

    def test_a_class_changes_at_an_untrusted_port(self):
        self.sample(("trust: dscp}", "trust: remark}"))
        self.assertEqual(self.run_verb("trace", "intent.yaml", "--from", "leaf1", "--to", "leaf2", "--json"), WRONG)
        classes = json.loads(self.out)["paths"][0]["classes"]
        self.assertTrue(all("served as 'site'" in one["changed"] for one in classes))

    def test_a_rollout_writes_files_for_ansible_and_runs_nothing(self):
        self.sample()
        self.assertEqual(self.run_verb("rollout", "intent.yaml", "-o", "out", "--ports", "2", "--serial", "3"), OK)
        tree = self.tree()
        for name in ("inventory.yml", "playbook.yml", "rollback.yml", "change.yml", "back.yml", "ROLLOUT.md"):
            self.assertIn(f"out/{name}", tree)
        self.assertIn("--drain --batch 2", tree["out/inventory.yml"])
        self.assertIn("unverified: first run each by hand", tree["out/inventory.yml"])
        self.assertIn("unverified", tree["out/ROLLOUT.md"])
        play = tree["out/playbook.yml"]
        self.assertEqual(play.count("any_errors_fatal: true"), play.count("serial:"))
        self.assertIn("serial: 3", play)
        self.assertLess(play.index("canaries at the edge"), play.index("the other leaves"))
        self.assertIn("0. Drain jobs", tree["out/ROLLOUT.md"])
        self.sample(("asic: tomahawk4", "asic: generic"))
        self.assertEqual(self.run_verb("rollout", "intent.yaml", "-o", "none"), WRONG)
        self.assertFalse((self.folder / "none").exists())

    def test_targets_are_listed_with_releases_and_sources(self):
        self.assertEqual(self.run_verb("targets", "--json"), OK)
        systems = json.loads(self.out)["systems"]
        self.assertGreaterEqual({one["os"] for one in systems},
                                {"sonic", "cumulus", "eos", "tc", "srlinux", "junos", "nxos", "openconfig", "arcos", "iosxr"})
        for one in systems:
            self.assertTrue(one["releases"], one["os"])
            self.assertTrue(all(source.startswith("https://") for source in one["sources"].values()), one["os"])
            self.assertTrue(one["sources"], one["os"])

    def test_an_error_on_one_switch_prevents_all_output(self):
        self.sample(("  - name: spine[1-2]\n    os: sonic\n    version: \"202311\"\n    asic: tomahawk4",
                     "  - name: spine[1-2]\n    os: sonic\n    version: \"202311\"\n    asic: generic"))
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), WRONG)
        self.assertIn("nothing was written", self.said)
        self.assertFalse((self.folder / "out").exists())
        self.assertFalse((self.folder / "out.partial").exists())

    def test_diff_prints_the_rows_that_would_change(self):
        self.sample()
        self.assertEqual(self.run_verb("diff", "intent.yaml", "--switch", "leaf1"), DIFFERS)
        self.assertIn("rows change", self.out)

    def test_verify_lists_commands_and_needs_one_switch_for_captured_output(self):
        self.sample()
        self.assertEqual(self.run_verb("verify", "intent.yaml"), OK)
        self.assertIn("# spine1, spine2", self.out)
        (self.folder / "captured.txt").write_text("")
        self.assertEqual(self.run_verb("verify", "intent.yaml", "--captured", "captured.txt"), USAGE)

    def test_files_that_cannot_be_read_or_written(self):
        self.assertEqual(self.run_verb("plan", "absent.yaml"), FILES)
        self.sample()
        (self.folder / "file").write_text("")
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "file/out"), FILES)
        self.assertIn("cannot write", self.said)

        self.assertEqual(self.run_verb("verify", "intent.yaml", "--switch", "leaf1", "--captured", "absent"), FILES)

    def test_one_switch_alone_leaves_the_files_of_the_fabric(self):
        self.sample()
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        before = self.tree()
        self.assertIn("of 4: ", before["out/leaf3/REPORT.md"])
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out", "--switch", "leaf3"), OK)
        self.assertIn("1 switch in out: begin with leaf3/REPORT.md", self.out)
        self.assertEqual(self.tree(), before)
        for verb in ("rollout", "telemetry"):
            self.assertEqual(self.run_verb(verb, "intent.yaml", "--switch", "leaf3"), USAGE)

    def test_output_that_cannot_be_written(self):
        self.sample()
        for verb in (["plan", "intent.yaml"], ["check", "intent.yaml", "--json"], ["init", "-"], ["keys"],
                     ["targets", "--json"], ["diff", "intent.yaml", "--json"]):
            with self.subTest(verb=verb), open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([PROGRAM, *verb], cwd=self.folder, stdout=full, stderr=subprocess.PIPE,
                                      text=True, check=False)
                self.assertIn(done.returncode, (FILES, DIFFERS) if verb[0] == "diff" else (FILES,))
                self.assertIn("dlcp-switch: cannot write the output: ", done.stderr)

    def test_a_byte_order_mark_is_no_part_of_the_text(self):
        lines = (DATA / "junos" / "leaf.set").read_text().splitlines(True)
        first = next(line for line in lines if "code-points 011010" in line)
        text = first + "".join(line for line in lines if line != first)
        (self.folder / "intent.yaml").write_text(
            "fabric: {name: f, base_rtt: 12us, link_speed: 400G}\nswitches:\n"
            "  - {name: leaf, os: junos, version: 24.4R1, asic: tomahawk4, role: leaf, running_config: leaf.set,\n"
            "     ports: [{ports: et-0/0/0, role: host, trust: dscp}]}\n")
        written = []
        for mark in (b"", b"\xef\xbb\xbf"):
            (self.folder / "leaf.set").write_bytes(mark + text.encode())
            self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK, self.said)
            written.append((self.folder / "out" / "leaf" / "10-definitions.set").read_text())
        self.assertIn("code-points 011010", written[0])
        self.assertEqual(*written)

    def test_files_that_are_not_utf8(self):
        (self.folder / "latin1.yaml").write_bytes("fabric: {name: w\u00fcrzburg}\n".encode("latin1"))
        self.assertEqual(self.run_verb("check", "latin1.yaml"), FILES)
        self.assertIn("latin1.yaml: error: line 1 of the file is not UTF-8", self.said)
        running = ("system name host-name leaf\nset system location w\u00fcrzburg\n").encode("latin1")
        (self.folder / "running").write_bytes(running)
        self.sample(("    role: leaf\n", "    role: leaf\n    running_config: running\n"))
        self.assertNotEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        self.assertIn("line 2 of the file is not UTF-8: 'running'", self.said)
        self.assertIn("iconv", self.said)

    def test_usage(self):
        self.assertEqual(self.run_verb(), USAGE)
        self.assertEqual(self.run_verb("plan"), USAGE)
        self.assertEqual(self.run_verb("rendr", "intent.yaml"), USAGE)
        self.assertIn("did you mean 'render'?", self.said)
        self.assertEqual(self.run_verb("--version"), OK)

    def test_tables(self):
        self.assertEqual(self.run_verb("targets"), OK)
        self.assertIn("| sonic |", self.out)
        self.assertEqual(self.run_verb("targets", "--json"), OK)
        systems = json.loads(self.out)["systems"]
        self.assertIn("sonic", {system["os"] for system in systems})
        self.assertTrue(all(system["since"] and system["asics"] for system in systems))
        self.assertEqual(self.run_verb("keys"), OK)
        self.assertIn("`base_rtt`", self.out)


if __name__ == "__main__":
    unittest.main()
