#!/usr/bin/env python3
"""`dlcp simulate` as a user runs it: simulate_test.py DLCP"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

DLCP = pathlib.Path(sys.argv[1]).resolve()


def run(*arguments):
    return subprocess.run([str(DLCP), "simulate", *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=900)


class Simulate(unittest.TestCase):
    def test_list_names_the_figures(self):
        done = run("list", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [row["figure"] for row in json.loads(done.stdout)]
        self.assertEqual(names, ["F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9"])

    def test_a_figure_as_json_has_its_parameters(self):
        done = run("F4", "--quick", "--seeds", 2, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        figure = json.loads(done.stdout)
        self.assertEqual(figure["figure"], "F4")
        self.assertEqual(figure["seeds"], [1, 2])
        self.assertIn("fabric", figure["parameters"])
        self.assertEqual({row["transport"] for row in figure["rows"]}, {"dlcp", "nscc", "dctcp", "pfabric", "pias", "ndp", "roce"})
        for row in figure["rows"]:
            self.assertEqual(list(row), ["case", "transport", "metric", "unit", "value", "low", "high"])
            self.assertLessEqual(row["low"], row["value"])
            self.assertLessEqual(row["value"], row["high"])
        self.assertEqual(run("F4", "--quick", "--seeds", 2, "--json").stdout, done.stdout)

    def test_a_table_fits_80_columns_and_names_the_winner(self):
        done = run("F4", "--quick", "--seeds", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        self.assertRegex(done.stdout, "better|WORSE|no significant difference")

    def test_plot_writes_a_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("F6", "--quick", "--seeds", 1, "--plot", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((pathlib.Path(folder) / "F6.svg").read_text().startswith("<svg"))

    def test_scenarios_of_the_documentation_run(self):
        files = sorted((pathlib.Path(__file__).resolve().parents[3] / "docs/scenarios").glob("*.yaml"))
        self.assertGreaterEqual(len(files), 7)
        for file in files:
            with self.subTest(file.name):
                done = run(file, "--seeds", 1, "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                figure = json.loads(done.stdout)
                self.assertEqual(figure["figure"], "scenario")
                self.assertIn("dlcp", {row["transport"] for row in figure["rows"]})
                self.assertIn("fabric", figure["parameters"])

    def test_a_scenario_with_a_mistake_is_refused_with_its_line(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "mine.yaml"
            file.write_text("fabric: {shape: switch, hosts: 4}\nload: {kind: incast, bytes: lots}\n")
            done = run(file)
            self.assertEqual(done.returncode, 2)
            self.assertIn("mine.yaml: line 2: bytes is 'lots'; give 64k", done.stderr)
            file.write_text("fabric: {shape: switch, hosts: 4}\nload: {kind: matrix, file: other.cm}\n")
            done = run(file)
            self.assertEqual(done.returncode, 2)
            self.assertIn("other.cm", done.stderr)
            (file.parent / "other.cm").write_text("Nodes 4\nConnections 1\n0->3 start 0 size 100000\n")
            done = run(file, "--seeds", 2)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        self.assertEqual(run("/nowhere/x.yaml").returncode, 2)

    def test_wrong_usage_is_refused_with_the_valid_values(self):
        done = run("F99")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'F99' is not a figure; give list, validate, F1, F2", done.stderr)
        self.assertEqual(run().returncode, 2)
        self.assertEqual(run("F4", "--seeds", 0).returncode, 2)
        missing = run("F6", "--quick", "--seeds", 1, "--plot", "/nowhere/at/all")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("/nowhere/at/all", missing.stderr)
        # Before hours of simulation, not after them.
        self.assertEqual(run("F4", "--seeds", 1000, "--plot", "/nowhere/at/all").returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
