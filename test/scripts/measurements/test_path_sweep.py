"""scripts/bench --paths judges and prints given results; nothing is measured here."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
sys.dont_write_bytecode = True
import path_sweep  # noqa: E402


ARGUMENTS = type("Arguments", (), {"seconds": 2, "runs": 1, "netem": False})


def result(ours, cubic, bbr, errors=(), of_cubic=()):
    path = path_sweep.Path(5000, 0.5, 0.01, 4)
    return path_sweep.result_of(path, {None: ours, "cubic": cubic, "bbr": bbr}, [100], {"ours": errors, "cubic": of_cubic})


class PathSweep(unittest.TestCase):
    def test_the_ratio_of_medians_to_the_better_rival_is_met_at_its_boundary(self):
        exact = result([0.9, 9, 0.1], [0.1, 0.2, 0.3], [1.0, 1.0, 5.0])
        self.assertEqual((exact["ratio"], exact["met"]), (0.9, True))
        self.assertFalse(result([0.89], [0.1], [1.0])["met"])
        self.assertEqual(result([1.0], [2.0], [1.0])["ratio"], 0.5)

    def test_a_failed_run_is_never_met(self):
        self.assertFalse(result([9.0], [1.0], [1.0], ["no end after 90 s"])["met"])
        self.assertFalse(result([9.0], [0.0], [0.0])["met"])
        tcp_failed = result([9.0], [0.0], [1.0], of_cubic=["no end after 90 s"])
        self.assertTrue(tcp_failed["met"])
        self.assertEqual(tcp_failed["errors"], ["cubic: no end after 90 s"])

    def test_the_relay_gets_half_of_the_round_trip_in_each_direction(self):
        path = path_sweep.Path(5000, 0.5, 0.01, step_us=2000)
        self.assertEqual(path.settings(4), ["delay=2500", "jitter=1250", "order=keep", "loss=10000", "step=2000:1000"])

    def test_a_link_that_tcp_fills_must_be_filled(self):
        def judged(ours, best, mbit=20):
            path = path_sweep.Path(5000, rate_mbit=mbit)
            return path_sweep.result_of(path, {None: [ours], "cubic": [best], "bbr": [0]}, [], {"ours": []})
        self.assertTrue(judged(0.016, 0.0176)["met"])
        self.assertFalse(judged(0.0159, 0.0176)["met"])  # 0.9 of TCP's, but not 0.8 of the link
        self.assertTrue(judged(0.0144, 0.0159)["met"])  # no transport fills the link
        self.assertAlmostEqual(judged(0.016, 0.0176)["link_share"], 0.8)
        self.assertIn(" 16.0 ", path_sweep.line(judged(0.016, 0.0176)))

    def test_netem_gets_the_same_settings_as_the_relay(self):
        path = path_sweep.Path(5000, 0.5, 0.01, rate_mbit=20, queue_kib=64)
        network = path_sweep.rig.NetemPath(None, "x", *path.settings(4))
        self.assertEqual(network.settings, ("offload=seg", "delay=2500", "jitter=1250", "order=keep", "loss=10000",
                                            "rate=20mbit", "queue=64k"))

    def test_a_run_lasts_at_least_thirty_round_trips(self):
        sweep = path_sweep.Sweep(ARGUMENTS, None, None, ["cubic"])
        self.assertEqual(sweep.seconds(path_sweep.Path(1000)), 2)
        self.assertEqual(sweep.seconds(path_sweep.Path(100_000, 2)), 9)

    def sweep_of(self, answer):
        before = path_sweep.rig.run_json
        self.addCleanup(setattr, path_sweep.rig, "run_json", before)
        path_sweep.rig.run_json = lambda command, environment, timeout: answer
        build = type("Build", (), {"dlcp": "dlcp", "plugin": "plugin"})
        return path_sweep.Sweep(ARGUMENTS, build, lambda text: None, ["cubic"])

    def test_a_fault_that_the_plugin_refuses_is_an_error_and_not_a_rate_of_zero(self):
        right = self.sweep_of((0, {"bus_gbps": 5.0}, "")).fault("delay_us=200")
        self.assertNotIn("met", right)  # no transport to compare with
        self.assertIn("5.00", path_sweep.line(right))
        wrong = self.sweep_of((2, {"bus_gbps": 0, "error": "there is no fault called delay"}, "")).fault("delay=1")
        self.assertFalse(wrong["met"])
        self.assertIn("error: there is no fault called delay", path_sweep.line(wrong))

    def test_the_plugin_accepts_every_fault_of_the_sweep(self):
        source = (pathlib.Path(__file__).resolve().parents[3] / "src/datapath/faulty/fault_spec.cc").read_text()
        for fault in path_sweep.FAULTS:
            for setting in fault.split(","):
                name, _, value = setting.partition("=")
                self.assertIn(f'"{name}"', source)
                self.assertRegex(value, r"^[0-9.]+$")

    def test_lines_fit_a_terminal(self):
        for path in (*path_sweep.FULL, *path_sweep.MORE):
            shown = path_sweep.result_of(path, {None: [10.25], "cubic": [10.25], "bbr": [10.25]}, [99999], {"ours": []})
            self.assertLessEqual(max(map(len, path_sweep.line(shown).splitlines())), 80)
        for path in path_sweep.BESIDE:
            self.assertLessEqual(len(path_sweep.line({"beside": path.name(), "ours": 1, "tcp": 1, "met": False})), 80)


if __name__ == "__main__":
    unittest.main()
