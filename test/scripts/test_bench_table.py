"""scripts/bench and scripts/demo judge and print given results; nothing is measured here."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import unittest
from unittest import mock

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))


def load(name, file):
    loader = importlib.machinery.SourceFileLoader(name, str(SCRIPTS / file))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module


bench = load("bench", "bench")
demo = load("ring_demo", "ring_demo.py")


def measured(row, ours, other):
    """The result of a row whose runs have these values, through Measurement's own arithmetic."""
    arguments = mock.Mock(runs=len(ours), seconds=1)
    measurement = bench.Measurement(arguments, None)
    values = iter([v for i, pair in enumerate(zip(ours, other)) for v in (pair if i % 2 == 0 else pair[::-1])])
    with mock.patch.object(bench.Measurement, "once", lambda self, row, ours: next(values)), \
            mock.patch.object(bench, "progress"):
        return measurement.measure(row, mock.Mock())


def runs(key, *values):
    return [{key: value, "mean_burst": 4.0} for value in values]


class BenchTable(unittest.TestCase):
    FAST = bench.Row("fast", "veth", (), at_least=0.8)
    LATE = bench.Row("late", "veth", (), "p50_us", "us", at_most=1.2)

    def test_the_ratio_uses_medians_and_is_met_at_its_boundary(self):
        result = measured(self.FAST, runs("bus_gbps", 8, 80, 7), runs("bus_gbps", 10, 1, 100))
        self.assertEqual((result["ours"], result["other"], result["ratio"], result["met"]), (8, 10, 0.8, True))
        self.assertFalse(measured(self.FAST, runs("bus_gbps", 7.99), runs("bus_gbps", 10))["met"])
        self.assertTrue(measured(self.LATE, runs("p50_us", 12), runs("p50_us", 10))["met"])
        self.assertFalse(measured(self.LATE, runs("p50_us", 12.1), runs("p50_us", 10))["met"])

    def test_the_page_has_every_row_with_its_verdict(self):
        rows = [measured(self.FAST, runs("bus_gbps", 8), runs("bus_gbps", 10)),
                measured(self.LATE, runs("p50_us", 20), runs("p50_us", 10)),
                measured(self.FAST, [{"error": "no start"}], runs("bus_gbps", 1)),
                {"row": "idle", "errors": [], "met": True, "target": "<1", "notes": ["a note"]}]
        where = {"commit": "abc", "date": "2026-01-02", "kernel": "6.1", "processor": "P", "cores": 2, "load": 0.5}
        page = bench.results_page.markdown(rows, 3, 1.5, where, bench.number)
        self.assertIn("3 alternating runs per side, 1.5 s each", page)
        self.assertIn("Commit abc, 2026-01-02, kernel 6.1, 2 cores of P, load 0.5 before", page)
        self.assertIn("| fast | Gb/s | 8 | 10.0 | 0.8 | >=0.8 | met |", page)
        self.assertIn("| late | us | 20.0 | 10.0 | 2 | <=1.2 | **missed** |", page)
        self.assertIn("| no start |", page)
        self.assertIn("| met; a note |", page)
        self.assertEqual(page.splitlines()[-1], "2 targets met, 1 missed, 1 rows failed.")

    def test_a_failed_run_is_never_met(self):
        result = measured(self.FAST, [{"bus_gbps": 99, "error": "wrong"}], runs("bus_gbps", 1))
        self.assertEqual((result["met"], result["errors"]), (False, ["wrong"]))
        self.assertFalse(measured(self.FAST, [{"error": "no start"}], runs("bus_gbps", 1))["met"])

    def test_a_row_without_target_is_neither_met_nor_missed(self):
        row = bench.Row("shown", "veth", ())
        self.assertIsNone(measured(row, runs("bus_gbps", 1), runs("bus_gbps", 2))["met"])

    def test_lines_fit_a_terminal(self):
        results = [measured(row, runs(row.key, 123456.7), runs(row.key, 9876543.2)) for row in bench.ROWS]
        results.append({"row": "x", "errors": ["e" * 200], "met": None, "target": "-"})
        for result in results:
            for text in bench.line(result).splitlines():
                self.assertLessEqual(len(text), 80, text)
        self.assertLessEqual(len(bench.HEADING), 80)

    def test_every_row_has_a_network_and_a_unique_name(self):
        names = [row.name for row in bench.ROWS] + list(bench.SPECIAL)
        self.assertEqual(len(names), len(set(names)))
        for row in bench.ROWS:
            self.assertIn(row.net, bench.NETS)


class DemoTable(unittest.TestCase):
    GOOD = {"bus_gbps": 2.0, "p50_us": 1500.0, "p99_us": 2500.0, "p999_us": 3500.0, "cpu_s_per_gib": 0.5,
            "elements_wrong": 0, "error": None}

    def test_the_verdict_compares_the_lossy_rows(self):
        rows = [("clean", "DLCP", self.GOOD), ("clean", "TCP", self.GOOD), ("1% loss", "DLCP", self.GOOD),
                ("1% loss", "TCP", {**self.GOOD, "bus_gbps": 0.25})]
        self.assertIn("8.0 times", demo.verdict(rows))
        self.assertIsNone(demo.verdict(rows[:3]))
        for text in demo.table(rows).splitlines():
            self.assertLessEqual(len(text), 80)

    def test_an_error_is_shown_in_its_row(self):
        self.assertIn("no such device", demo.table([("clean", "DLCP", {"error": "no such device"})]))


if __name__ == "__main__":
    unittest.main()
