#!/usr/bin/env python3
"""Hosts with IPv6 addresses only: an all-reduce and a stream of messages through the plugin.

test_ipv6.py BUILD      BUILD: folder with bin/dlcp and lib/. Exits with 77 where namespaces are not permitted."""

import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import rig  # noqa: E402

PREFIX = f"six{os.getpid() % 10000}x"
RANKS = 3
BUILD = rig.Build(pathlib.Path("build/release"))


def inside(rank, *command):
    return subprocess.run(["ip", "netns", "exec", f"{PREFIX}{rank}", *command],
                          capture_output=True, text=True, check=True).stdout


class Ipv6(unittest.TestCase):
    def setUp(self):
        network = rig.Network(PREFIX, RANKS, "topo=bridge", "mtu=1500", "offload=seggro", "loss=10000")
        network.__enter__()
        self.addCleanup(network.__exit__)
        for rank in range(RANKS):
            inside(rank, "ip", "-4", "address", "flush", "dev", "eth0")
        deadline = time.monotonic() + 10
        while any("tentative" in inside(rank, "ip", "-6", "address") for rank in range(RANKS)):
            self.assertLess(time.monotonic(), deadline, "an address stays tentative")
            time.sleep(0.1)

    def exact(self, *bench):
        code, result, errors = rig.run_json(
            [BUILD.dlcp, "bench", "--plugin", BUILD.plugin, "--netns", PREFIX, "--json", "--seconds", "1", *bench],
            timeout=60)
        self.assertIsNotNone(result, errors)
        self.assertEqual((code, result["bytes_wrong"], result["error"]), (0, 0, None))
        self.assertGreater(result["bytes"], 0)
        print(f"    {' '.join(bench)}: {result['bus_gbps']:.2f} Gb/s at 1% loss", flush=True)

    def test_an_all_reduce_over_ipv6_only_is_exact(self):
        self.exact("--mode", "ring", "--ranks", str(RANKS), "--size", "4M")

    def test_a_stream_over_ipv6_only_is_exact(self):
        self.exact("--mode", "bw", "--size", "1M")


if __name__ == "__main__":
    BUILD = rig.build_for_test()
    unittest.main()
