#!/usr/bin/env python3
"""`dlcp synth --mscclpp-json`, read and executed like MSCCL++'s executor: mscclpp_test.py DLCP SAMPLES"""

import copy
import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import mscclpp_plan

DLCP, SAMPLES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
COLLECTIVES = ("allreduce", "allgather", "reducescatter", "alltoall")
NETWORKS = {
    "two": "{ranks: [a, b], links: [{from: a, to: b, rate: 10G}]}",
    "star of 8": "{ranks: 'h[0-7]', switches: [s], links: [{from: 'h[0-7]', to: s, rate: 100G}]}",
    "star of 6, one slow": "{ranks: 'h[0-5]', switches: [s], links: [{from: 'h[0-4]', to: s, rate: 100G}, {from: h5, to: s, rate: 40G}]}",
    "leaves": "{ranks: 'h[0-7]', switches: [a, b, c], links: [{from: 'h[0-3]', to: a, rate: 100G}, {from: 'h[4-7]', to: b, rate: 100G}, {from: [a, b], to: c, rate: 100G}]}",
    "line of relays": "{ranks: 'h[0-4]', links: [{from: h0, to: h1, rate: 10G}, {from: h1, to: h2, rate: 20G}, {from: h2, to: h3, rate: 10G}, {from: h3, to: h4, rate: 10G}]}",
    "one way round": "{ranks: 'h[0-2]', links: [{from: h0, to: h1, rate: 10G, one_way: yes}, {from: h1, to: h2, rate: 10G, one_way: yes}, {from: h2, to: h0, rate: 10G, one_way: yes}]}",
}


class Mscclpp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def export(self, *arguments, code=0):
        path = self.folder / "plan.json"
        done = subprocess.run([str(DLCP), "synth", *map(str, arguments), "--mscclpp-json", str(path)], capture_output=True, text=True, check=False, timeout=900)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        self.said = done.stderr
        return done.stderr if code else json.loads(path.read_text())

    def network(self, name):
        path = self.folder / "network.yaml"
        path.write_text(NETWORKS[name])
        return path

    def check(self, plan, what):
        for seed in range(4 if plan["gpus"][0]["input_chunks"] < 100 else 1):
            wrong, places = mscclpp_plan.wrong_elements(plan, seed)
            self.assertEqual(wrong, 0, f"{what}, seed {seed}")
            self.assertGreater(places, 0)

    def test_every_collective_on_every_network_and_for_every_size(self):
        for name, collective, size in itertools.product(NETWORKS, COLLECTIVES, ("1K", "4M")):
            with self.subTest(network=name, collective=collective, size=size):
                plan = self.export(self.network(name), "--collective", collective, "--size", size, "--box", 2)
                self.assertEqual(plan["collective"], collective)
                self.check(plan, f"{collective} of {size} on {name}")

    def test_ring_and_tree(self):
        for algorithm, box in itertools.product(("ring", "tree"), (1, 4, 8)):
            self.check(self.export(self.network("star of 8"), "--algorithm", algorithm, "--box", box), f"{algorithm}, boxes of {box}")

    def check_boxes(self, collective, size):
        plan = self.export(SAMPLES / "ndv2.json", "--sketch", SAMPLES / "ndv2-x2.json", "--collective", collective, "--size", size)
        self.check(plan, f"{collective} of two boxes")
        for gpu in plan["gpus"]:
            for channel in gpu["channels"]:
                for peer in channel["connected_to"]:
                    self.assertEqual(channel["channel_type"] == "memory", peer // 8 == gpu["id"] // 8)

    def test_gpus_of_a_box_share_memory_and_others_have_ports(self):
        for collective, size in (("allgather", "1K"), ("reducescatter", "1K"), ("alltoall", "64K")):
            with self.subTest(collective=collective):
                self.check_boxes(collective, size)

    def test_message_sizes_are_those_of_the_last_size_range(self):
        plan = self.export(self.network("star of 8"), "--size", "1K,64K,1G")
        self.assertGreater(plan["min_message_size"], 1024)
        self.assertEqual(plan["max_message_size"], 2**64 - 1)
        self.assertEqual(self.export(self.network("star of 8"), "--size", "1G")["min_message_size"], 0)

    def test_the_fastest_fitting_plan_is_written_and_its_cost_is_printed(self):
        self.export(self.network("star of 8"), "--size", "1M", "--box", 2)
        self.assertEqual(self.said, "")
        self.check_boxes("allreduce", "1M")
        cost = re.fullmatch(
            r"dlcp synth: greedy for 1048576 bytes, 16 parts needs more operations or channels in a thread block than MSCCL\+\+ supports; the plan for MSCCL\+\+ uses .+ instead: .+ instead of .+, \+([0-9.]+)%\n", self.said
        )
        self.assertTrue(cost, self.said)
        self.assertGreater(float(cost[1]), 0)

    def test_a_box_is_for_this_plan_only(self):
        done = subprocess.run([str(DLCP), "synth", str(self.network("two")), "--box", "2"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--mscclpp-json", done.stderr)

    def test_this_test_detects_errors(self):
        plan = self.export(self.network("star of 8"), "--size", "256K", "--box", 4)
        for rank, block in itertools.product((0, 5), range(len(plan["gpus"][0]["threadblocks"]))):
            for at, op in enumerate(plan["gpus"][rank]["threadblocks"][block]["ops"]):
                broken = copy.deepcopy(plan)
                del broken["gpus"][rank]["threadblocks"][block]["ops"][at]
                try:
                    found = any(mscclpp_plan.wrong_elements(broken, seed)[0] for seed in range(4))
                except ValueError:
                    found = True
                self.assertTrue(found, f"GPU {rank}, block {block}: a missing {op} is not detected")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
