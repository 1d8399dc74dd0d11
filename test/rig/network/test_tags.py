#!/usr/bin/env python3
"""The benefit of marking packets by magnitude: a licensed 4-rank ring, on a network that drops only the droppable code
points, like queues with early drop, and on one that drops equally many packets of all.

test_tags.py BUILD      BUILD: folder with bin/dlcp and lib/. Exits with 77 where namespaces are not permitted."""

import os
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import rig  # noqa: E402

PREFIX = f"tag{os.getpid() % 10000}x"
BUILD = rig.Build(pathlib.Path("build/release"))
DROPPABLE = (12, 14, 22)  # DSCPs, include/dlcp/traffic_class.h
PROTECTED = (10, 20)


def lossy(network, codes, ppm):
    # Code points that are not listed have a negligible loss of their own.
    network.set("loss=1", "dscploss=" + ",".join(f"{code}:{ppm}" for code in codes))
    code, result, errors = rig.run_json(
        [BUILD.dlcp, "bench", "--plugin", BUILD.plugin, "--mode", "ring", "--ranks", "4", "--netns", PREFIX, "--size",
         "8M", "--iterations", "20", "--loss-budget", "10%", "--json"])
    if code:
        raise AssertionError(f"dlcp bench ended with {code}: {errors}")
    return result


def error_per_loss(result):
    return result["relative_mse"] / (1 - result["delivered_share"])


class TagsTest(unittest.TestCase):
    def test_lost_packets_matter_least(self):
        with rig.Network(PREFIX, 4, "topo=bridge", "mtu=1500", "offload=seggro") as network:
            tagged = lossy(network, DROPPABLE, 43000)
            untagged = lossy(network, DROPPABLE + PROTECTED, 10000)
        for name, result in (("by worth", tagged), ("at random", untagged)):
            print(f"    lost {name}: {1 - result['delivered_share']:.4f} of the sums, relative MSE "
                  f"{result['relative_mse']:.3g}, {error_per_loss(result):.3g} per share lost; "
                  f"{result['counters']['bytes_lost_bulk_protected']} of {result['lost_bytes']} bytes were protected")
            self.assertTrue(result["ranks_identical"])
            self.assertEqual(result["elements_wrong"], 0)
            self.assertGreaterEqual(result["delivered_share_min"], 0.9)
            self.assertGreater(1 - result["delivered_share"], 0.002)
        self.assertLess(error_per_loss(tagged), 0.5 * error_per_loss(untagged))


if __name__ == "__main__":
    BUILD = rig.build_for_test()
    unittest.main()
