#!/usr/bin/env python3
"""Marks on the wire equal the class table: a licensed 4-rank ring, reduced layer by layer like a training step, is
captured at the switch's port to host 1, in both directions.

test_marks.py BUILD      BUILD: folder with bin/dlcp and lib/. Exits with 77 where namespaces are not permitted."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "scripts"))
sys.path.insert(0, str(HERE.parent))
import rig  # noqa: E402
from class_table import traffic_classes  # noqa: E402

PREFIX = f"mk{os.getpid() % 10000}x"
BUILD = rig.Build(pathlib.Path("build/release"))
SENT_ONCE = 14  # frame type


class Tap:
    """Runs wire_marks.py during the with block."""

    def __enter__(self):
        self.process = subprocess.Popen(["ip", "netns", "exec", f"{PREFIX}sw", sys.executable, HERE / "wire_marks.py",
                                         "p1"], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "seeing\n":
            raise RuntimeError("nothing is watched")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.seen = json.loads(self.process.communicate(timeout=20)[0] or "[]")


class MarksTest(unittest.TestCase):
    def run_ring(self, *arguments):
        """Packets by (outgoing, name of the class); each is compared with the table before."""
        table = traffic_classes()
        self.assertEqual(len(table), 7)
        behind_data = [marks for name, *marks in table.values() if name in ("urgent-protected", "bulk-protected")]
        with rig.Network(PREFIX, 4, "topo=bridge", "mtu=1500", "offload=seggro", "rate=1gbit",
                         "queue=256k"):  # no faster than the capture can follow
            with Tap() as tap:
                code, result, errors = rig.run_json(
                    [BUILD.dlcp, "bench", "--plugin", BUILD.plugin, "--mode", "ring", "--ranks", "4", "--netns", PREFIX,
                     "--size", "8M", "--iterations", "12", "--json", *arguments])
            self.assertEqual(code, 0, errors)
        self.assertEqual(result["bytes_wrong"], 0)
        packets = collections.Counter()
        for outgoing, frame_type, number, dscp, ecn, count in tap.seen:
            name, *right = table[number]
            what = f"{count} packets of {name}, frame type {frame_type}"
            if frame_type == SENT_ONCE:  # after its data, never ahead of it
                self.assertIn([dscp, ecn], behind_data, what)
            else:
                self.assertEqual([dscp, ecn], right, what)
                packets[outgoing, name] += count
        print(f"    {dict(packets)}")
        return packets

    def test_a_licensed_ring_uses_every_class_both_ways(self):
        packets = self.run_ring("--layers", "4", "--loss-budget", "5%")
        for outgoing in (False, True):
            for name in ("control", "exact", "urgent-protected", "urgent-droppable", "bulk-protected",
                         "bulk-droppable"):
                self.assertGreater(packets[outgoing, name], 0, f"{name}, {'to' if outgoing else 'from'} host 1")
            protected = packets[outgoing, "bulk-protected"]
            self.assertGreater(protected, packets[outgoing, "bulk-droppable"])  # a quarter is droppable

    def test_an_exact_ring_uses_two(self):
        packets = self.run_ring()
        self.assertEqual({name for _, name in packets}, {"control", "exact"})


if __name__ == "__main__":
    BUILD = rig.build_for_test()
    unittest.main()
