"""scripts/bench and scripts/demo judge and print given results; nothing is measured here."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest
from unittest import mock

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "scripts"
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
ALL_ROWS = (*bench.ROWS, *bench.SPEED, *bench.MANY, *bench.BUSY, *bench.GRADIENTS)


def measurement(count, seconds=1):
    build = mock.Mock(dlcp="dlcp", plugin="dlcp.so", tcp="tcp.so")
    return bench.Measurement(mock.Mock(runs=count, seconds=seconds), build)


def measured(row, ours, other):
    """The result of a row whose rounds have these values, through Measurement's own arithmetic."""
    with mock.patch.object(bench.Measurement, "rounds", lambda *_: list(zip(ours, other))):
        return measurement(len(ours)).measure(row, mock.Mock())


def output(*reports):
    """The standard output of `dlcp bench --json` with these reports."""
    return 0, [{"error": None, "bytes_wrong": 0, "mean_burst": None, "others_cpu_share": 0, **r} for r in reports], ""


def runs(key, *values):
    return [{key: value, "mean_burst": 4.0} for value in values]


class BenchTable(unittest.TestCase):
    FAST = bench.Row("fast", "veth", (), at_least=0.8)
    LATE = bench.Row("late", "veth", (), "p50_us", "us", at_most=1.2)

    def test_the_ratio_is_the_median_of_the_rounds_and_is_met_at_its_boundary(self):
        result = measured(self.FAST, runs("bus_gbps", 8, 80, 7), runs("bus_gbps", 10, 50, 14))
        self.assertEqual((result["ours"], result["other"], result["ratio"], result["met"]), (8, 14, 0.8, True))
        self.assertEqual([round(quartile, 6) for quartile in result["ratio_quartiles"]], [0.65, 0.8, 1.2])
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
        self.assertIn("3 rounds, in which both sides transfer in turn for 1.5 s or a multiple", page)
        self.assertIn("Commit abc, 2026-01-02, kernel 6.1, 2 cores of P, load 0.5 before", page)
        self.assertIn("| fast | Gb/s | 8 | 10.0 | 0.8 (0.8 to 0.8) | >=0.8 | met |", page)
        self.assertIn("| late | us | 20.0 | 10.0 | 2 (2 to 2) | <=1.2 | **missed** |", page)
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
        results = [measured(row, runs(row.key, 123456.7, 0.0123), runs(row.key, 9876543.2, 123.4))
                   for row in ALL_ROWS if not row.beyond]
        results += [measured(row, runs(row.key, 12.3, 0.0123), runs(row.key, 98.7, 3.4)) for row in ALL_ROWS if row.beyond]
        results.append({"row": "x", "errors": ["e" * 200], "met": None, "target": "-"})
        for result in results:
            for text in bench.line(result).splitlines():
                self.assertLessEqual(len(text), 80, text)
        self.assertLessEqual(len(bench.HEADING), 80)

    def test_rows_that_compare_a_difference(self):
        row = bench.Row("user", "veth", (), "user_s_per_gib", "s/GiB", at_most=0.25, beyond=True)
        result = measured(row, runs(row.key, 0.5, 0.6, 0.7), runs(row.key, 0.3, 0.4, 0.4))
        self.assertEqual((round(result["ratio"], 6), result["met"]), (0.2, True))
        self.assertFalse(measured(row, runs(row.key, 0.6), runs(row.key, 0.3))["met"])

    def test_a_row_may_compare_two_cases_of_the_plugin(self):
        row = next(row for row in bench.SPEED if row.other_bench)
        commands = []

        def run_json(command, *_, **__):
            commands.append(command)
            return 0, {"error": None, "bytes_wrong": 0}, ""

        with mock.patch.object(bench.rig, "run_json", run_json), mock.patch.object(bench, "progress"):
            measurement(1).measure(row, mock.Mock())
        self.assertEqual([("direct" in command, "ring" in command) for command in commands],
                         [(True, False), (False, True)])
        self.assertEqual({command[command.index("--plugin") + 1] for command in commands}, {"dlcp.so"})

    def test_packets_per_burst_and_acknowledgements(self):
        results = [{"row": "a", "mean_burst": 41.25, "acks_per_packet": 0.0123}, {"row": "b", "errors": []}]
        self.assertEqual([text.split() for text in bench.packets_table(results)[1:]], [["a", "41.2", "0.012"]])
        self.assertEqual(bench.acks_per_packet({"counters": {"packets_sent": 50, "acks_sent": 1}}), 0.02)
        self.assertIsNone(bench.acks_per_packet({}))

    def test_every_row_has_a_network_and_a_unique_name(self):
        for rows in (bench.ROWS, bench.SPEED, bench.MANY, bench.BUSY, bench.GRADIENTS):
            names = [row.name for row in rows] + list(bench.SPECIAL)
            self.assertEqual(len(names), len(set(names)))
        for rows in (bench.ROWS, bench.SPEED, bench.MANY, bench.BUSY, bench.GRADIENTS):
            self.assertEqual(len(rows), len({row.name for row in rows}))
        for row in ALL_ROWS:
            self.assertIn(row.net, bench.NETS)

    def test_one_command_runs_both_sides_in_turn_and_its_turns_are_paired(self):
        row = bench.Row("bf16", "cut1500", ("--mode", "bw"), environment=(("DLCP_COMPRESS", "auto"),))
        commands = []

        def run(command, environment, timeout):
            commands.append(command)
            self.assertFalse(environment)
            self.assertGreater(timeout, 60)
            return output({"turns": {"bus_gbps": [10, 20]}}, {"turns": {"bus_gbps": [5, 12]}})

        with mock.patch.object(bench.rig, "run_json", run), mock.patch.object(bench, "progress"):
            result = measurement(2, 0.25).measure(row, mock.Mock())
        command = " ".join(commands[0])
        self.assertEqual(len(commands), 1)
        self.assertIn("--plugin tcp.so --plugin dlcp.so,DLCP_COMPRESS=auto --turns 2 --json --seconds 0.25", command)
        self.assertEqual((result["ours"], result["other"], result["ratio"]), (8.5, 15, 0.55))

    def test_an_error_or_wrong_bytes_of_one_side_fail_the_row(self):
        for reports, said in ((({"error": "rank 0: no device"},), "rank 0: no device"),
                              (({}, {"bytes_wrong": 7}), "7 wrong bytes")):
            with mock.patch.object(bench.rig, "run_json", lambda *_, reports=reports, **__: output(*reports)), \
                    mock.patch.object(bench, "progress"):
                result = measurement(1).measure(self.FAST, mock.Mock())
            self.assertEqual((result["errors"], result["met"]), ([said], False))

    def test_sides_that_need_different_networks_run_alternately(self):
        row = next(row for row in bench.ROWS if row.ours)
        order = []

        def once(_, __, ours):
            order.append(ours)
            return {"bus_gbps": 9 if ours else 10}

        network = mock.Mock()
        with mock.patch.object(bench.Measurement, "once", once), mock.patch.object(bench, "progress"):
            result = measurement(2).measure(row, network)
        self.assertEqual((order, result["ratio"]), ([True, False, False, True], 0.9))
        self.assertEqual(network.set.call_args_list[-1].args, row.undo)

    def test_busy_threads_run_beside_the_ranks_and_end_with_them(self):
        command = measurement(1).command(next(row for row in bench.BUSY if row.busy == 2))
        self.assertEqual(command[:2], ["sh", "-c"])
        self.assertEqual(command[4], str(2 * os.cpu_count()))
        # Busy threads that survived would keep the pipe open, until the time-out.
        done = subprocess.run([*command[:4], "2", "sh", "-c", "exit 3"], capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 3)


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

    def test_wrong_data_and_errors_of_any_run_are_in_the_exit_status(self):
        good = {**self.GOOD, "bytes_wrong": 0, "exit_code": 0}
        self.assertEqual(demo.exit_status([good, good]), 0)
        self.assertEqual(demo.exit_status([good, {**good, "bytes_wrong": 8}]), 1)
        self.assertEqual(demo.exit_status([{**good, "elements_wrong": 8}, good]), 1)
        self.assertEqual(demo.exit_status([good, {**good, "exit_code": 1}]), 1)
        self.assertEqual(demo.exit_status([good, {"error": "no end after 10 s", "exit_code": 124}]), 3)

    def test_streams_of_gradients_are_judged_too(self):
        build = mock.Mock(plugin="dlcp.so", tcp="tcp.so")
        wrong = {**self.GOOD, "bytes_wrong": 8, "elements_wrong": 12, "exit_code": 1}
        with mock.patch.object(demo.rig, "Network"), mock.patch.object(demo, "run", lambda *_, **__: wrong):
            _, results = demo.gradients_over_a_slow_link(build, 1)
        self.assertEqual(demo.exit_status(results), 1)


if __name__ == "__main__":
    unittest.main()
