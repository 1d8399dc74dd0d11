#!/usr/bin/env python3
"""Trains a small transformer with 4 data-parallel processes over ports of 1 Gbit/s, with and without compression of the
gradients (docs/compression.md), in bf16 and in fp32 under PyTorch's autocast. All runs of one precision must end with
the same weights, bit for bit.

  transformer.py [--steps N] [--rate RATE] [--precision bf16|autocast]... [--json FILE] [--build DIR]

The model (668,800 parameters) predicts the next character of the source text of Python's library. A ring all-reduce over
the plugin's own connections sums the gradients after the backward pass. Needs root for the network, and PyTorch. Exit: 0
done, 1 weights differ or a rank failed, 2 usage, 3 not possible here."""

import argparse
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
import rig  # noqa: E402
import train  # noqa: E402

RANKS = 4
PREFIX = f"trt{os.getpid() % 10000}x"
RUNS = {"off": ("dlcp", "off"), "auto": ("dlcp", "auto"), "on": ("dlcp", "on"), "TCP": ("tcp", "off")}  # plugin, DLCP_COMPRESS
PRECISIONS = ("bf16", "autocast")
CHARACTERS, WIDTH, LAYERS, CONTEXT, BATCH = 256, 128, 3, 64, 4


def make_model(torch):
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.before, self.between = torch.nn.LayerNorm(WIDTH), torch.nn.LayerNorm(WIDTH)
            self.attention = torch.nn.MultiheadAttention(WIDTH, 4, batch_first=True)
            self.feed = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(),
                                            torch.nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x, mask):
            h = self.before(x)
            x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
            return x + self.feed(self.between(x))

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = torch.nn.Embedding(CHARACTERS, WIDTH)
            self.position = torch.nn.Parameter(torch.randn(CONTEXT, WIDTH) * 0.02)
            self.blocks = torch.nn.ModuleList(Block() for _ in range(LAYERS))
            self.head = torch.nn.Linear(WIDTH, CHARACTERS)

        def forward(self, characters):
            x = self.embedding(characters) + self.position
            mask = torch.triu(torch.full((CONTEXT, CONTEXT), float("-inf")), 1).to(x.dtype)
            for block in self.blocks:
                x = block(x, mask)
            return self.head(x)

    return Model()


def rank_main(task):
    import torch  # pylint: disable=import-outside-toplevel
    import worker  # pylint: disable=import-outside-toplevel

    torch.set_num_threads(1)
    torch.manual_seed(1)
    half = task["precision"] == "bf16"
    files = sorted(pathlib.Path(os.__file__).parent.glob("*.py"))[:60]
    text = torch.tensor(list(b"".join(file.read_bytes() for file in files)), dtype=torch.long)
    model = make_model(torch).to(torch.bfloat16 if half else torch.float32)
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, 1e-3)
    count = sum(p.numel() for p in parameters)
    ring = worker.AllReduce({**task, "type": worker.BFLOAT16 if half else worker.FLOAT32}, count)
    batches = torch.Generator().manual_seed(2)  # equal on all ranks; each takes its part
    report = {"parameters": count, "step_seconds": [], "reduce_seconds": [], "loss": []}
    for _ in range(task["steps"]):
        start = time.monotonic()
        begins = torch.randint(len(text) - CONTEXT - 1, (BATCH * task["ranks"],), generator=batches)[task["rank"]::task["ranks"]]
        x = torch.stack([text[i:i + CONTEXT] for i in begins])
        y = torch.stack([text[i + 1:i + CONTEXT + 1] for i in begins])
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=not half):
            out = model(x)
        loss = torch.nn.functional.cross_entropy(out.float().view(-1, CHARACTERS), y.view(-1))
        loss.backward()
        gradient = torch.cat([p.grad.reshape(-1) for p in parameters])
        bits = (gradient.view(torch.int16) if half else gradient).numpy()
        before = time.monotonic()
        ring.sum(bits, bits)
        report["reduce_seconds"].append(time.monotonic() - before)
        at = 0
        for p in parameters:
            p.grad.copy_(gradient[at:at + p.numel()].view_as(p) / task["ranks"])
            at += p.numel()
        optimizer.step()
        report["step_seconds"].append(time.monotonic() - start)
        report["loss"].append(loss.item())
    ring.close()
    weights = torch.cat([p.detach().float().reshape(-1) for p in parameters])
    report["weights"] = hashlib.sha256(weights.numpy().tobytes()).hexdigest()
    stats = pathlib.Path(task["folder"], f"stats.{os.getpid()}.json")
    report["counters"] = json.loads(stats.read_text()) if stats.exists() else {}
    print(json.dumps(report))


def run(name, precision, options, build):
    """The reports of all ranks. Raises RuntimeError if one fails."""
    plugin, compress = RUNS[name]
    with tempfile.TemporaryDirectory(prefix="dlcp-training-") as folder:
        environment = {**os.environ, "DLCP_STATS_FILE": f"{folder}/stats.%p.json", "DLCP_COMPRESS": compress, "DLCP_CONFIG": "",
                       "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        task = {"folder": folder, "library": str(build.folder / "lib" / "libtraining_allreduce.so"), "ranks": RANKS,
                "plugin": str(build.plugin if plugin == "dlcp" else build.tcp), "algorithm": "ring", "budget": 0,
                "steps": options.steps, "precision": precision}
        workers = [subprocess.Popen(["ip", "netns", "exec", f"{PREFIX}{rank}", sys.executable, __file__, "--rank",
                                     json.dumps({**task, "rank": rank})], env=environment, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True) for rank in range(RANKS)]
        try:
            train.collect(workers, 120 + 4 * options.steps)
            return [json.loads(worker.stdout.read()) for worker in workers]
        finally:
            for worker in workers:
                worker.kill()
                worker.communicate()


def summary(name, precision, reports):
    def ms(key):
        return 1e3 * statistics.median(t for r in reports for t in r[key][1:])

    counters = {key: sum(r["counters"].get(key, 0) for r in reports)
                for key in ("bytes_sent", "bytes_compressed", "bytes_compressed_wire")}
    return {"precision": precision, "run": name, "step_ms": ms("step_seconds"), "reduce_ms": ms("reduce_seconds"),
            "loss": reports[0]["loss"][-1], "weights": sorted({r["weights"] for r in reports}), **counters}


def line(row):
    wire = row["bytes_compressed_wire"]
    ratio = f"{row['bytes_compressed'] / wire:.2f}" if wire else "-"
    return (f"| {row['precision']} | {row['run']} | {row['step_ms']:.0f} | {row['reduce_ms']:.0f} | {ratio} | {row['loss']:.3f} | "
            f"{', '.join(weights[:12] for weights in row['weights'])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rate", default="1gbit", help="rate of every port")
    parser.add_argument("--precision", action="append", choices=PRECISIONS)
    parser.add_argument("--run", action="append", choices=RUNS)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=rig.ROOT / "build" / "release")
    options = parser.parse_args()
    reason = missing_packages() or rig.permitted()
    if reason:
        print(f"transformer: {reason}", file=sys.stderr)
        return 3
    build = rig.Build(options.build.resolve())
    rows = []
    try:
        with rig.Network(PREFIX, RANKS, *train.NETWORK, f"rate={options.rate}", "queue=256k"):
            print("| precision | run | step ms | all-reduce ms | ratio | loss | weights |\n|---|---|---|---|---|---|---|", flush=True)
            for precision in options.precision or PRECISIONS:
                for name in options.run or RUNS:
                    rows.append(summary(name, precision, run(name, precision, options, build)))
                    print(line(rows[-1]), flush=True)
    except RuntimeError as error:
        print(f"transformer: {error}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    equal = all(len({w for row in rows if row["precision"] == precision for w in row["weights"]}) <= 1 for precision in PRECISIONS)
    print("all runs of a precision have the same weights" if equal else "WEIGHTS DIFFER")
    return 0 if equal else 1


def missing_packages():
    try:
        import numpy, torch  # noqa: E401,F401  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        return f"this interpreter ({sys.executable}) has no {error.name}; run scripts/setup training, then /usr/bin/python3 with this script"
    return None


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank"]:
        rank_main(json.loads(sys.argv[2]))
        sys.exit(0)
    sys.exit(main())
