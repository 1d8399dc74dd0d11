#!/usr/bin/env python3
"""`dlcp synth` and `dlcp bench --mode plan` as a user runs them: synth_test.py DLCP PLUGIN"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

DLCP, PLUGIN = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
STAR = "{ranks: 'h[0-3]', switches: [s], links: [{from: 'h[0-3]', to: s, rate: 10G}]}"


def run(*arguments):
    return subprocess.run([str(DLCP), *map(str, arguments)], capture_output=True, text=True, check=False, timeout=100)


class Synth(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.star = self.folder / "star.yaml"
        self.star.write_text(STAR)

    def test_json_has_bound_and_plan(self):
        done = run("synth", self.star, "--collective", "allgather", "--size", "1G", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        self.assertAlmostEqual(result["bound_gb_per_s"], 1.25 * 4 / 3, places=5)
        self.assertGreater(result["plan_gb_per_s"], 0.99 * result["bound_gb_per_s"])
        self.assertAlmostEqual(result["ratio"], result["plan_gb_per_s"] / result["bound_gb_per_s"], places=3)
        self.assertEqual((result["ranks"], result["verified"]), (4, True))
        self.assertLess(result["seconds"], 5)

    def test_the_table_fits_80_columns(self):
        done = run("synth", self.star)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        self.assertIn("4 of 4 ranks take part", " ".join(done.stdout.split()))

    def test_errors_name_the_file_the_value_and_the_correction(self):
        for text, words in (("{ranks: [a, b], links: []}", "a cannot reach b"), ("ranks: [a]\nlinks:\n- {from: a, to: b, rate: 1G}", "line 3: there is no rank or switch b"),
                            ("[1]", "this is not a topology")):
            file = self.folder / "bad.yaml"
            file.write_text(text)
            done = run("synth", file)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)
            self.assertIn("bad.yaml", done.stderr)
        self.assertIn("cannot read", run("synth", self.folder / "none").stderr)
        self.assertIn("--size: 'much' is not valid", run("synth", self.star, "--size", "much").stderr)
        self.assertEqual(run("synth").returncode, 2)
        self.assertIn("cannot perform alltoall", run("synth", self.star, "--collective", "alltoall", "--algorithm", "tree").stderr)

    def test_one_rank_has_nothing_to_do(self):
        self.star.write_text("{ranks: [a], links: []}")
        done = run("synth", self.star, "--size", "1K", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["bound_gb_per_s"], None)

    def test_exports_are_well_formed(self):
        picture, algorithm = self.folder / "p.svg", self.folder / "a.xml"
        self.assertEqual(run("synth", self.star, "--plot", picture, "--msccl-xml", algorithm).returncode, 0)
        self.assertTrue(xml.parse(picture).getroot().tag.endswith("svg"))
        self.assertEqual(xml.parse(algorithm).getroot().get("ngpus"), "4")

    def test_plans_are_executed_and_every_element_is_correct(self):
        plan = self.folder / "plan.json"
        for collective in ("allreduce", "allgather", "reducescatter", "alltoall"):
            self.assertEqual(run("synth", self.star, "--collective", collective, "-o", plan).returncode, 0)
            # Sizes that four ranks divide, and others, down to fewer elements than ranks.
            done = run("bench", "--mode", "plan", "--plan", plan, "--plugin", PLUGIN, "--size", "4,1004,64K,1M", "--iterations", "3", "--json")
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            for result in json.loads(done.stdout):
                self.assertEqual((result["ranks"], result["elements_wrong"], result["error"]), (4, 0, None))

    def test_plans_are_executed_inside_all_reduces(self):
        plan = self.folder / "plan.json"
        self.assertEqual(run("synth", self.star, "-o", plan).returncode, 0)
        for kind in ("f32", "bf16"):
            done = run("bench", "--mode", "allreduce", "--algo", "plan", "--plan", plan, "--plugin", PLUGIN, "--type", kind, "--size", "4,1004,256K", "--iterations", "3", "--json")
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            for result in json.loads(done.stdout):
                self.assertEqual((result["ranks"], result["algo"], result["bytes_wrong"], result["error"]), (4, "plan", 0, None))

    def test_compressed_messages_of_plans_give_the_same_sums(self):
        plan = self.folder / "plan.json"
        environment = {**os.environ, "NCCL_SOCKET_IFNAME": "lo", "DLCP_MTU": "1500", "DLCP_COMPRESS": "on"}
        self.assertEqual(run("synth", self.star, "-o", plan).returncode, 0)
        done = subprocess.run([DLCP, "bench", "--mode", "allreduce", "--algo", "plan", "--plan", plan, "--plugin", PLUGIN, "--data", "amp", "--size",
                               "4M", "--iterations", "3", "--json"], env=environment, capture_output=True, text=True, check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        result = json.loads(done.stdout)
        self.assertEqual((result["elements_wrong"], result["error"], result["data"]), (0, None, "amp"))
        self.assertGreater(result["counters"]["bytes_compressed"], 1.2 * result["counters"]["bytes_compressed_wire"])

    def test_every_rank_reports_that_plans_differ(self):
        ring, tree = self.folder / "ring.json", self.folder / "tree.json"
        for plan in (ring, tree):
            self.assertEqual(run("synth", self.star, "--algorithm", plan.stem, "-o", plan).returncode, 0)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        ranks = []
        for rank in range(4):  # as under torchrun: each with its own environment
            environment = {**os.environ, "RANK": str(rank), "WORLD_SIZE": "4", "LOCAL_RANK": str(rank), "MASTER_ADDR": "127.0.0.1",
                           "MASTER_PORT": str(port), "NCCL_DEBUG": "WARN", "DLCP_PLAN": str(tree if rank == 1 else ring)}
            ranks.append(subprocess.Popen([DLCP, "bench", "--mode", "allreduce", "--algo", "direct", "--plugin", PLUGIN, "--size", "64K",
                                           "--iterations", "1"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        for rank in ranks:
            said = rank.communicate(timeout=60)[1]
            self.assertNotEqual(rank.returncode, 0)
            self.assertRegex(said, "do not use direct exchange: .*DLCP_PLAN is plan [0-9a-f]{16} on rank")

    def test_doctor_checks_the_plan_that_jobs_would_use(self):
        plan = self.folder / "plan.json"

        def finding():
            done = subprocess.run([DLCP, "doctor", "--json"], env={**os.environ, "DLCP_PLAN": str(plan)}, capture_output=True, text=True,
                                  check=False, timeout=60)
            return next(entry for entry in json.loads(done.stdout)["findings"] if entry["check"] == "plan")

        self.assertEqual(run("synth", self.star, "-o", plan).returncode, 0)
        good = finding()
        self.assertEqual(good["level"], "ok")
        self.assertIn("all-reduces of 4 hosts", good["value"])
        plan.write_text(plan.read_text()[:-40])
        self.assertEqual(finding()["level"], "fail")
        self.assertEqual(run("synth", self.star, "--collective", "alltoall", "-o", plan).returncode, 0)
        self.assertIn("a plan for alltoall", finding()["value"])
        plan.unlink()
        self.assertIn("DLCP_PLAN", finding()["value"])

    def test_relays_are_executed(self):
        self.star.write_text("{ranks: [a, b, c], links: [{from: a, to: b, rate: 10G}, {from: b, to: c, rate: 10G}]}")
        plan = self.folder / "plan.json"
        for collective in ("allreduce", "allgather", "reducescatter", "alltoall"):
            self.assertEqual(run("synth", self.star, "--collective", collective, "-o", plan).returncode, 0)
            done = run("bench", "--mode", "plan", "--plan", plan, "--plugin", PLUGIN, "--size", "100K", "--iterations", "2", "--json")
            self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
            self.assertEqual(json.loads(done.stdout)["elements_wrong"], 0)

    def test_bench_refuses_a_plan_for_other_ranks(self):
        plan = self.folder / "plan.json"
        run("synth", self.star, "-o", plan)
        self.assertIn("is for 4 ranks, but this run has 3", run("bench", "--mode", "plan", "--plan", plan, "--ranks", "3").stderr)
        self.assertIn("need --plan", run("bench", "--mode", "plan").stderr)
        self.assertIn("need --plan", run("bench", "--mode", "allreduce", "--algo", "plan").stderr)
        self.assertIn("only with --mode plan", run("bench", "--mode", "ring", "--plan", plan).stderr)
        plan.write_text(plan.read_text().replace('"slices":1', '"slices":3', 1))
        self.assertIn("the file was changed", run("bench", "--mode", "plan", "--plan", plan).stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
