#!/usr/bin/env python3
"""Spraying over a 2-spine fabric of namespaces with 200 Mbit/s spine links: two flows that may collide, a dead spine, a
lossy spine, and an outage of all paths. On links this slow the CPU is not the limit.

test_spray.py BUILD      BUILD: folder with bin/dlcp and lib/. Exits with 77 where namespaces are not permitted."""

import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import rig  # noqa: E402

PREFIX = f"spr{os.getpid() % 10000}x"
LINK_GBPS = 0.2
ATTEMPTS = 5
PAYLOAD_SHARE = 4096 / (4096 + 40 + 8 + 20 + 14)  # the rest: DLCP, UDP, IP, Ethernet headers
# Of the bisection bandwidth, in payload: what the fabric must carry in at least one of the attempts.
FLOOR = 0.9
BUILD = rig.Build(pathlib.Path("build/release"))
# Hosts 0 and 2 are on leaf 0, hosts 1 and 3 on leaf 1; bw sends from 0 to 1 and from 2 to 3.
BENCH = ("bench", "--mode", "bw", "--ranks", "4", "--size", "1M", "--json", "--netns", PREFIX)


def link_bytes():
    """Bytes that leaf 0 has sent to each spine."""
    done = subprocess.run([rig.NETNS, "bytes", PREFIX], capture_output=True, text=True, check=True)
    pairs = (line.split() for line in done.stdout.splitlines())
    return [int(count) for port, count in pairs if "leaf0/" in port]


class Spray(unittest.TestCase):
    def setUp(self):
        self.network = rig.Network(PREFIX, 4, "topo=spine", "mtu=4200", "offload=seggro", "cc=cubic",
                                   "rate=200mbit", "queue=128k")
        self.network.__enter__()
        self.addCleanup(self.network.__exit__)

    def bench(self, plugin, seconds=4):
        """The result, and busiest/mean of the two spine links."""
        before = link_bytes()
        code, result, errors = rig.run_json([BUILD.dlcp, *BENCH, "--plugin", plugin, "--seconds", seconds],
                                            timeout=120)
        self.assertIsNotNone(result, errors)
        sent = [after - b for after, b in zip(link_bytes(), before)]
        result["imbalance"] = max(sent) / (sum(sent) / len(sent))
        print(f"    {pathlib.Path(plugin).name}: {result['aggregate_gbps']:.3f} Gb/s, busiest/mean "
              f"{result['imbalance']:.2f}, p99 {result['p99_us'] or 0:.0f} us, error {result['error']}", flush=True)
        return code, result

    def exact(self, code, result):
        self.assertEqual((code, result["bytes_wrong"], result["error"]), (0, 0, None))

    def reach(self, gbps, imbalance=2.0):
        """Every attempt must be exact; one of several must reach the bounds, because other work on this machine can disturb
        one (the bounds are for the fabric, not for a busy CPU)."""
        for _ in range(ATTEMPTS):
            code, ours = self.bench(BUILD.plugin)
            self.exact(code, ours)
            if ours["aggregate_gbps"] >= gbps and ours["imbalance"] <= imbalance:
                return
        self.fail(f"{ATTEMPTS} attempts, none with {gbps:.3f} Gb/s and busiest/mean {imbalance}")

    def test_two_flows_fill_both_spines_evenly(self):
        self.bench(BUILD.tcp)  # for comparison in the log
        self.reach(FLOOR * 2 * LINK_GBPS * PAYLOAD_SHARE, imbalance=1.1)

    def test_a_dead_spine_leaves_most_of_the_other_spines_bandwidth(self):
        self.network.set("loss=1000000", "only=u0.1")
        self.network.set("loss=1000000", "only=u1.1")
        self.reach(0.7 * LINK_GBPS)

    def test_a_spine_that_drops_a_tenth_costs_little_more_than_that(self):
        self.network.set("loss=100000", "only=u0.1")
        self.reach(0.7 * 1.9 * LINK_GBPS)

    def test_two_seconds_without_any_path_cause_no_error(self):
        def outage():
            time.sleep(2)
            self.network.set("loss=1000000")
            time.sleep(2)
            self.network.set("loss=0")

        flap = threading.Thread(target=outage)
        flap.start()
        code, ours = self.bench(BUILD.plugin, seconds=8)
        flap.join()
        self.exact(code, ours)


if __name__ == "__main__":
    BUILD = rig.build_for_test()
    unittest.main()
