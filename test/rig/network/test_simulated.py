#!/usr/bin/env python3
"""The simulator against networks of this kernel, within 15%: test_simulated.py BUILD

BUILD: folder with bin/dlcp and lib/. Exits with 77 where namespaces are not permitted."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
import rig  # noqa: E402

ATTEMPTS = 3
BUILD = rig.Build(pathlib.Path("build/release"))


class Simulated(unittest.TestCase):
    def test_incast_spray_and_ring_take_as_long_as_in_this_kernel(self):
        """Other work on this machine can disturb a measurement, so one of several attempts must agree."""
        left = {"incast, 3 to 1", "spray over 2 spines", "ring of 3, 1% lost"}
        for _ in range(ATTEMPTS):
            done = subprocess.run([ROOT / "scripts/simulate-networks", "--build", BUILD.folder, "--runs", "1", "--json"],
                                  capture_output=True, text=True, check=False, timeout=120)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertTrue(done.stdout, done.stderr)
            for check in json.loads(done.stdout):
                print(f"    {check['name']}: {check['expected']:.4g} in the kernel, {check['measured']:.4g} simulated "
                      f"({check['unit']})", flush=True)
                self.assertEqual(check["tolerance"], 0.15)
                self.assertEqual(check["ok"], abs(check["measured"] / check["expected"] - 1) <= 0.15)
                if check["ok"]:
                    left.discard(check["name"])
            if not left:
                return
        self.fail(f"not within 15% in {ATTEMPTS} attempts: {', '.join(sorted(left))}")


if __name__ == "__main__":
    BUILD = rig.build_for_test()
    unittest.main()
