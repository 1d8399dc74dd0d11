"""scripts/bench --paths judges and prints what it is given; nothing is measured here."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
sys.dont_write_bytecode = True
import path_sweep  # noqa: E402


def result(ours, cubic, bbr, errors=()):
    path = path_sweep.Path(5000, 0.5, 0.01, 4)
    return path_sweep.result_of(path, {None: ours, "cubic": cubic, "bbr": bbr}, [100], list(errors))


class PathSweep(unittest.TestCase):
    def test_the_ratio_is_of_medians_to_the_better_of_both_and_met_at_its_boundary(self):
        exact = result([0.9, 9, 0.1], [0.1, 0.2, 0.3], [1.0, 1.0, 5.0])
        self.assertEqual((exact["ratio"], exact["met"]), (0.9, True))
        self.assertFalse(result([0.89], [0.1], [1.0])["met"])
        self.assertEqual(result([1.0], [2.0], [1.0])["ratio"], 0.5)

    def test_a_run_that_failed_is_never_met(self):
        self.assertFalse(result([9.0], [1.0], [1.0], ["no end after 90 s"])["met"])
        self.assertFalse(result([9.0], [0.0], [0.0])["met"])

    def test_the_relay_gets_half_of_the_round_trip_each_way(self):
        path = path_sweep.Path(5000, 0.5, 0.01, step_us=2000)
        self.assertEqual(path.settings(4), ["delay=2500", "jitter=1250", "order=keep", "loss=10000", "step=2000:1000"])

    def test_a_run_lasts_thirty_round_trips_at_least(self):
        sweep = path_sweep.Sweep(type("Arguments", (), {"seconds": 2, "runs": 1}), None, None, ["cubic"])
        self.assertEqual(sweep.seconds(path_sweep.Path(1000)), 2)
        self.assertEqual(sweep.seconds(path_sweep.Path(100_000, 2)), 9)

    def test_lines_fit_a_terminal(self):
        for path in (*path_sweep.FULL, *path_sweep.MORE):
            shown = path_sweep.result_of(path, {None: [10.25], "cubic": [10.25], "bbr": [10.25]}, [99999], [])
            self.assertLessEqual(max(map(len, path_sweep.line(shown).splitlines())), 80)
        for path in path_sweep.BESIDE:
            self.assertLessEqual(len(path_sweep.line({"beside": path.name(), "ours": 1, "tcp": 1, "met": False})), 80)


if __name__ == "__main__":
    unittest.main()
