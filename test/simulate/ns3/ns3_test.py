#!/usr/bin/env python3
"""The simulator's DCTCP compared with ns-3's, on one switch at 100 Gbit/s: ns3_test.py DLCP [-v]

ns-3 runs in a separate process, built here from dctcp_flows.cc and the distribution's packages (libns3-dev).
Exits with 77 if they, or a compiler, are missing."""

import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ("internet", "point-to-point", "traffic-control", "network", "core")
GBIT_PER_S = 100
DELAY_NS = 1000
MARK_BYTES = 100_000
MEAN_TOLERANCE, TAIL_TOLERANCE = 0.05, 0.10


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def quantile(values, share):
    """The smallest value that at least this share does not exceed, as in `dlcp simulate`."""
    return sorted(values)[max(-(-len(values) * int(share * 100) // 100) - 1, 0)]


class Dctcp(unittest.TestCase):
    def ns3(self, hosts, flows):
        text = "".join(f"{a} {b} {size} {start_ns}\n" for a, b, size, start_ns in flows)
        done = subprocess.run([PROGRAM, str(hosts), str(GBIT_PER_S), str(DELAY_NS), str(MARK_BYTES)], input=text,
                              capture_output=True, text=True, check=True, timeout=240)
        took = [int(line) / 1000 for line in done.stdout.split()]
        self.assertEqual(len(took), len(flows))
        self.assertGreater(min(took), 0, "a flow of ns-3's did not end")
        return statistics.mean(took), quantile(took, 0.99)

    def ours(self, hosts, flows):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            lines = [f"{a}->{b} id {i} start {start_ns * 1000} size {size}"
                     for i, (a, b, size, start_ns) in enumerate(flows, 1)]
            (folder / "flows.cm").write_text("\n".join([f"Nodes {hosts}", f"Connections {len(flows)}", *lines, ""]))
            (folder / "flows.yaml").write_text(
                f"fabric: {{shape: switch, hosts: {hosts}, rate: {GBIT_PER_S}G, delay: {DELAY_NS / 1000:g}us}}\n"
                "transports: [dctcp]\nseeds: 1\nload: {kind: matrix, file: flows.cm}\n")
            done = subprocess.run([DLCP, "simulate", folder / "flows.yaml", "--json"], capture_output=True, text=True,
                                  check=True, timeout=240)
        rows = {row["metric"]: row["value"] for row in json.loads(done.stdout)["rows"]}
        return rows["mean time"], rows["p99 time"]

    def agree(self, hosts, flows):
        (mean, tail), (our_mean, our_tail) = self.ns3(hosts, flows), self.ours(hosts, flows)
        print(f"    {self.id().rsplit('.', 1)[1]}: ns-3 mean {mean:.1f}, p99 {tail:.1f} us; ours {our_mean:.1f} "
              f"({our_mean / mean - 1:+.1%}), {our_tail:.1f} ({our_tail / tail - 1:+.1%})", flush=True)
        self.assertLessEqual(abs(our_mean / mean - 1), MEAN_TOLERANCE)
        self.assertLessEqual(abs(our_tail / tail - 1), TAIL_TOLERANCE)

    def to_one(self, senders, size):
        """Flows begin within 50 us: senders that begin at the same time stay synchronised in only one of the simulators."""
        chance = random.Random(senders)
        self.agree(senders + 1, [(i, 0, size, int(chance.uniform(0, 50_000))) for i in range(1, senders + 1)])

    def test_2_to_1(self):
        self.to_one(2, 4_000_000)

    def test_8_to_1(self):
        self.to_one(8, 2_000_000)

    def test_16_to_1(self):
        self.to_one(16, 2_000_000)

    def test_messages_at_half_load(self):
        """16 hosts, one message of 500 kB between each pair, at times of a Poisson process."""
        chance = random.Random(1)
        length_ns = 15 * 500_000 * 8 / GBIT_PER_S / 0.5
        pairs = [(a, b) for a in range(16) for b in range(16) if a != b]
        self.agree(16, [(a, b, 500_000, int(chance.uniform(0, length_ns))) for a, b in pairs])


if __name__ == "__main__":
    DLCP = pathlib.Path(sys.argv.pop(1)).resolve()
    if not pathlib.Path("/usr/include/ns3").is_dir() or not shutil.which("g++"):
        skip("ns-3 is not installed here (apt install libns3-dev g++)")
    with tempfile.TemporaryDirectory() as built:
        PROGRAM = f"{built}/dctcp_flows"
        made = subprocess.run(["g++", "-std=c++17", "-O1", str(HERE / "dctcp_flows.cc"), "-o", PROGRAM,
                               *(f"-lns3-{module}" for module in MODULES)], capture_output=True, text=True, check=False)
        if made.returncode:
            print(made.stderr)
            sys.exit(1)
        unittest.main()
