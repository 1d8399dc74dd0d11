#!/usr/bin/env python3
"""A few steps of train.py: exact results equal those over TCP, lossy results keep to the budget, and replicas never
differ.

test_training.py BUILD   BUILD: folder with lib/libtraining_allreduce.so. Exits with 77 if packages or namespaces are
missing."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import train  # noqa: E402

BUILD = None
# Queues that do not overflow while a process waits for a processor, because overflows ignore marks.
OPTIONS = ["--seeds", "1", "--steps", "8", "--budget", "0.1", "--shed", "0.03", "--rate", "400mbit", "--queue", "1m"]


class Training(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.options = train.parse(OPTIONS)
        cls.runs = {run["variant"]: run for run in train.run_all(cls.options, BUILD)}

    def test_all_replicas_hold_the_same_weights(self):
        self.assertEqual({name for name, run in self.runs.items() if run["identical"]}, set(train.VARIANTS))

    def test_exact_mode_trains_as_tcp_does_bit_for_bit(self):
        self.assertGreater(self.runs["exact"]["counters"]["packets_retransmitted"], 0)
        self.assertEqual(self.runs["exact"]["weights"], self.runs["tcp"]["weights"])

    def test_losses_stay_within_the_budget(self):
        for name in ("tags", "untagged"):
            run = self.runs[name]
            self.assertGreater(run["counters"]["bytes_lost"], 0, name)
            self.assertNotEqual(run["weights"], self.runs["exact"]["weights"])
            self.assertGreaterEqual(run["delivered_share_min"], 1 - self.options.budget, name)
            # Holes found in partial sums of one to three ranks, compared with the plugin's report.
            lost = (1 - run["delivered_share"]) * run["step_count"] * run["elements"] * train.RANKS * 4
            self.assertTrue(run["counters"]["bytes_lost"] <= lost * 1.001 and
                            lost <= 3.001 * run["counters"]["bytes_lost"], (name, lost, run["counters"]["bytes_lost"]))

    def test_tags_determine_which_packets_are_lost(self):
        tagged, untagged = (self.runs[name]["counters"] for name in ("tags", "untagged"))
        self.assertGreaterEqual(train.droppable_share(tagged), 0.99)
        self.assertLess(train.droppable_share(untagged), 0.6)


if __name__ == "__main__":
    reason = train.missing_packages()
    if reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    BUILD = train.rig.build_for_test()
    unittest.main(verbosity=2)
