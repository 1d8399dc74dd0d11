#!/usr/bin/env python3
"""dlcp-switch as its users run it: verbs, exit codes, JSON, and what is written when.

  cli.py DLCP_SWITCH"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
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

    def test_plan_prints_numbers_and_explains_them(self):
        self.sample()
        self.assertEqual(self.run_verb("plan", "intent.yaml"), OK)
        self.assertIn("4 switches alike, leaf1 to leaf4", self.out)
        self.assertNotIn("why:", self.out)
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

    def test_render_writes_a_folder_per_switch_and_the_same_every_time(self):
        self.sample()
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), OK)
        first = self.tree()
        self.assertEqual(sum(path.endswith("REPORT.md") for path in first), 6)
        self.assertIn("out/FABRIC.md", first)
        self.assertIn("Not verified on hardware", first["out/leaf1/REPORT.md"])
        (self.folder / "out" / "leaf1" / "stale.json").write_text("{}")
        (self.folder / "out" / "notes.txt").write_text("kept")
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out/"), OK)
        self.assertEqual(self.tree(), {**first, "out/notes.txt": "kept"})
        self.assertFalse((self.folder / "out.partial").exists())

    def test_an_error_on_one_switch_keeps_all_from_being_written(self):
        self.sample(("  - name: spine[1-2]\n    os: sonic\n    version: \"202311\"\n    asic: tomahawk4",
                     "  - name: spine[1-2]\n    os: sonic\n    version: \"202311\"\n    asic: generic"))
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "out"), WRONG)
        self.assertIn("nothing was written", self.said)
        self.assertFalse((self.folder / "out").exists())
        self.assertFalse((self.folder / "out.partial").exists())

    def test_diff_says_what_would_change(self):
        self.sample()
        self.assertEqual(self.run_verb("diff", "intent.yaml", "--switch", "leaf1"), DIFFERS)
        self.assertIn("rows change", self.out)

    def test_verify_lists_commands_and_wants_one_switch_for_captured_output(self):
        self.sample()
        self.assertEqual(self.run_verb("verify", "intent.yaml"), OK)
        self.assertIn("# spine2", self.out)
        (self.folder / "captured.txt").write_text("")
        self.assertEqual(self.run_verb("verify", "intent.yaml", "--captured", "captured.txt"), USAGE)

    def test_files_that_cannot_be_read_or_written(self):
        self.assertEqual(self.run_verb("plan", "absent.yaml"), FILES)
        self.sample()
        (self.folder / "file").write_text("")
        self.assertEqual(self.run_verb("render", "intent.yaml", "-o", "file/out"), FILES)
        self.assertIn("cannot be written", self.said)

    def test_usage(self):
        self.assertEqual(self.run_verb(), USAGE)
        self.assertEqual(self.run_verb("plan"), USAGE)
        self.assertEqual(self.run_verb("--version"), OK)

    def test_tables(self):
        self.assertEqual(self.run_verb("targets"), OK)
        self.assertIn("| sonic |", self.out)
        self.assertEqual(self.run_verb("keys"), OK)
        self.assertIn("`base_rtt`", self.out)


if __name__ == "__main__":
    unittest.main()
