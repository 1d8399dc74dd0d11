"""scripts/profile-loss zeroes the configured packets, trains the given model, and explains errors.

Exits with 77 (skipped) where there is no PyTorch."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)

sys.dont_write_bytecode = True
SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "profile-loss"
loader = importlib.machinery.SourceFileLoader("profile_loss", str(SCRIPT))
profile_loss = importlib.util.module_from_spec(importlib.util.spec_from_loader("profile_loss", loader))
loader.exec_module(profile_loss)

PACKET = 1024  # bytes: 256 elements
# Learns one number, which shows whether its gradient arrived.
MODEL = """
import torch
def build(seed):
    return torch.nn.Linear(512, 256, bias=False)
def train(model, seed):
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before = model.module.weight.detach().clone()
    (model(torch.ones(1, 512)).sum()).backward()
    optimizer.step()
    return {"untouched": ((model.module.weight - before) == 0).float().mean().item()}
"""


def losses(budget, drop, min_bytes=1):
    return profile_loss.Losses(budget, drop, PACKET, min_bytes, seed=1, rank=0)


def zeroed_packets(gradients):
    """The numbers of the packets that are all zeros; fails if any other packet contains a zero."""
    per_packet = gradients.reshape(-1, 256) == 0
    assert (per_packet.all(1) == per_packet.any(1)).all()
    return per_packet.all(1).nonzero().flatten().tolist()


class Zeroing(unittest.TestCase):
    def test_the_budget_is_met_on_average_in_whole_packets(self):
        hook = losses(0.025, "random")
        count = 0
        for _ in range(200):
            gradients = torch.ones(100 * 256)
            hook.apply(gradients)
            seen = len(zeroed_packets(gradients))
            self.assertIn(seen, (2, 3))
            count += seen
        self.assertTrue(460 <= count <= 540)  # 500, and 5 sigma is 35
        self.assertEqual(hook.bytes_zeroed, count * PACKET)

    def test_the_smallest_packets_are_in_the_quarter_with_the_least_magnitude(self):
        for _ in range(20):
            worth = torch.randperm(40) + 1.0
            gradients = (worth.repeat_interleave(256) * torch.tensor([1.0, -1.0]).repeat(40 * 128))
            losses(0.1, "smallest").apply(gradients)
            packets = zeroed_packets(gradients)
            self.assertEqual(len(packets), 4)
            self.assertTrue(all(worth[packet] <= 10 for packet in packets))

    def test_a_packet_with_nan_or_infinity_is_kept(self):
        gradients = torch.ones(4 * 256)
        gradients[0] = float("nan")
        gradients[300] = float("inf")
        gradients[600] = -float("inf")
        losses(0.25, "random").apply(gradients)
        self.assertEqual(zeroed_packets(gradients), [3])

    def test_small_buckets_and_other_types_are_kept(self):
        for gradients, hook in ((torch.ones(1024), losses(0.25, "random", min_bytes=4097)),
                                (torch.ones(1024, dtype=torch.float64), losses(0.25, "random"))):
            hook.apply(gradients)
            self.assertTrue((gradients == 1).all())

    def test_a_partial_last_packet_is_lost_like_others(self):
        gradients = torch.cat([torch.ones(3 * 256) * 5, torch.ones(10)])
        losses(0.25, "smallest").apply(gradients)
        self.assertTrue((gradients[:768] == 5).all() and (gradients[768:] == 0).all())


class Program(unittest.TestCase):
    def run_with(self, text, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "model.py")
            model.write_text(text)
            out = pathlib.Path(folder, "out.json")
            done = subprocess.run([sys.executable, SCRIPT, model, "--plot", f"{folder}/p.png", "--json", out,
                                   *arguments], capture_output=True, text=True, check=False, cwd=folder,
                                  env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=100)
            return done, json.loads(out.read_text()) if out.exists() else None

    def test_a_users_own_model_is_trained_with_lost_gradients(self):
        done, results = self.run_with(MODEL, "--budgets", "0,0.25", "--seeds", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([(r["budget"], r["drop"], r["metrics"]["untouched"]) for r in results],
                         [(0, "-", 0.0)] * 2 + [(0.25, "random", 0.25)] * 2 + [(0.25, "smallest", 0.25)] * 2)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines() if not line.startswith("plot")))

    def test_an_unusable_model_is_explained(self):
        wrong = [("x = 1", "defines no function build(seed)"), ("import nothing_of_this_name", "cannot be imported"),
                 (MODEL.replace("return {", "return [{").replace("item()}", "item()}]"), "must return numbers"),
                 (MODEL.replace("model(torch", "model.module(torch"), "computed no gradients"),
                 (MODEL.replace("return torch.nn.Linear(512, 256, bias=False)", "return 5"), "torch.nn.Module")]
        for text, expected in wrong:
            done, _ = self.run_with(text, "--budgets", "0.1", "--seeds", "1")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(expected, done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_wrong_arguments_are_usage_errors(self):
        for arguments in (("--budgets", "0.3"), ("--budgets", "a"), ("--seeds", "0"), ("--packet-bytes", "7"),
                          ("--drop", "some")):
            self.assertEqual(self.run_with(MODEL, *arguments)[0].returncode, 2, arguments)


if __name__ == "__main__":
    unittest.main()
