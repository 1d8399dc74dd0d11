#!/usr/bin/env python3
"""Trains a small network on scikit-learn's digits with 4 data-parallel processes whose gradients are summed over
the plugin's own connections, on a network that drops packets and holds a queue; compares four ways to do that.

  train.py [--seeds N] [--steps N] [--budget P] [--shed S] [--variant NAME]... [--json FILE] [--plot FILE] [--build DIR]

Each process runs in a network namespace of its own; ports have a rate and a short queue, and S of all packets are
dropped at random. "tags": of a licensed class the ports drop the packets marked droppable, four times as often,
and no others. "untagged": the same sender, but all gradient classes carry one code point, dropped at S. Both lose
the same share. Needs root for the network. Exit: 0 done, 1 replicas differ or a rank failed, 2 usage, 3 not
possible here."""

import argparse
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
sys.path.insert(0, str(HERE.parents[1] / "scripts"))
import rig  # noqa: E402

RANKS = 4
PREFIX = f"trn{os.getpid() % 10000}x"
NETWORK = ("mtu=1500", "offload=seggro", "cc=cubic")
DROPPABLE_SHARE = 0.25  # of licensed packets: what the sender marks (src/core/config.h)
PROTECTED, DROPPABLE = (10, 20), (12, 14, 22)  # code points of include/dlcp/traffic_class.h
# One code point, and with it one queue, for every licensed class.
UNTAGGED = "".join(f"{name}.queue = bulk\n{name}.dscp = 14\n" for name in
                   ("urgent-protected", "urgent-droppable", "bulk-protected", "bulk-middle", "bulk-droppable"))
VARIANTS = {  # plugin, has a budget, is tagged, what tables call it
    "exact": ("dlcp", False, True, "DLCP exact"),
    "tags": ("dlcp", True, True, "DLCP, bounded loss with tags"),
    "untagged": ("dlcp", True, False, "DLCP, bounded loss without tags"),
    "tcp": ("tcp", False, True, "reliable TCP (cubic)"),
}
TRAINING_TARGETS = (*rig.BENCH_TARGETS, "training_allreduce")


def loss_settings(variant, shed, ppm=1_000_000):
    """netns settings by which that share of all packets is dropped, and of licensed ones as the variant says."""
    rates = {}
    if VARIANTS[variant][1] and VARIANTS[variant][2]:
        rates = {**dict.fromkeys(PROTECTED, 0), **dict.fromkeys(DROPPABLE, round(shed / DROPPABLE_SHARE * ppm))}
    settings = [f"loss={round(shed * ppm)}"]
    if rates and shed > 0:
        settings.append("dscploss=" + ",".join(f"{dscp}:{rate}" for dscp, rate in rates.items()))
    return settings


def train(variant, seed, options, build, network):
    """One run: what the ranks report, rank 0's curves among it. Raises RuntimeError when one of them fails."""
    plugin, licensed, tagged, _ = VARIANTS[variant]
    network.set(*loss_settings(variant, options.shed))
    with tempfile.TemporaryDirectory(prefix="dlcp-training-") as folder:
        environment = {**os.environ, "DLCP_STATS_FILE": f"{folder}/stats.%p.json", "OPENBLAS_NUM_THREADS": "1",
                       "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "DLCP_CONFIG": ""}
        if not tagged:
            classes = pathlib.Path(folder, "classes")
            classes.write_text(UNTAGGED)
            environment["DLCP_CLASSES"] = str(classes)
        task = {"folder": folder, "library": str(build.folder / "lib" / "libtraining_allreduce.so"),
                "plugin": str(build.plugin if plugin == "dlcp" else build.tcp), "ranks": RANKS, "seed": seed,
                "budget": options.budget if licensed else 0, "steps": options.steps, "every": options.every}
        workers = [subprocess.Popen(["ip", "netns", "exec", f"{PREFIX}{rank}", sys.executable, HERE / "worker.py",
                                     json.dumps({**task, "rank": rank})], env=environment, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True) for rank in range(RANKS)]
        try:
            return collect(workers, 60 + 4 * options.steps)
        finally:
            for worker in workers:
                worker.kill()
                worker.communicate()


def collect(workers, timeout):
    """The workers' reports. The first failure ends the run: the other ranks only wait for that one."""
    until = time.monotonic() + timeout
    while any(worker.poll() is None for worker in workers):
        failed = [rank for rank, worker in enumerate(workers) if worker.poll()]
        if failed or time.monotonic() > until:
            break
        time.sleep(0.05)
    for rank, worker in enumerate(workers):
        if worker.poll():
            raise RuntimeError(f"rank {rank}: {worker.stderr.read().strip() or f'exit code {worker.returncode}'}")
    if any(worker.poll() is None for worker in workers):
        raise RuntimeError(f"no end after {timeout} s")
    return [json.loads(worker.stdout.read()) for worker in workers]


def summary(variant, seed, reports):
    """What one run came to."""
    times = reports[0]["reduce_seconds"]
    lost = [sum(shares) for shares in zip(*(r["lost_share"] for r in reports))]  # of each step, of all results
    counters = {}
    for report in reports:
        for name, value in report["counters"].items():
            if isinstance(value, int):
                counters[name] = counters.get(name, 0) + value
    return {"variant": variant, "seed": seed, "identical": len({r["weights"] for r in reports}) == 1,
            "weights": reports[0]["weights"], "curve": reports[0]["curve"], "reduce_seconds": times,
            "step_seconds": reports[0]["step_seconds"], "step_count": len(lost), "elements": reports[0]["elements"],
            "accuracy": reports[0]["curve"][-1]["accuracy"], "loss": reports[0]["curve"][-1]["loss"],
            "delivered_share": 1 - statistics.mean(lost), "delivered_share_min": 1 - max(lost), "counters": counters}


def progress(text):
    print(f"  {text} ...", file=sys.stderr, flush=True)


def run_all(options, build):
    results = []
    with rig.Network(PREFIX, RANKS, *NETWORK, f"rate={options.rate}", f"queue={options.queue}") as network:
        for seed in range(1, options.seeds + 1):
            for variant in options.variant or VARIANTS:
                progress(f"seed {seed} of {options.seeds}: {VARIANTS[variant][3]}")
                results.append(summary(variant, seed, train(variant, seed, options, build, network)))
    return results


def spread(values, scale=1.0, digits=1):
    low, high = min(values) * scale, max(values) * scale
    middle = f"{statistics.median(values) * scale:.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({low:.{digits}f}-{high:.{digits}f})"


def droppable_share(counters):
    """Of the lost bytes, what the sender had marked droppable."""
    marked = counters.get("bytes_lost_bulk_droppable", 0) + counters.get("bytes_lost_urgent_droppable", 0)
    of = marked + counters.get("bytes_lost_bulk_protected", 0) + counters.get("bytes_lost_urgent_protected", 0)
    return marked / of if of else 0.0


def row(runs, name, licensed):
    """One variant's cells: medians, ranges over the seeds in brackets."""
    times = sorted(t for r in runs for t in r["reduce_seconds"][1:])
    marked = f"{100 * statistics.mean(droppable_share(r['counters']) for r in runs):.0f}" if licensed else "-"
    return (name, spread([r["accuracy"] for r in runs], 100), spread([r["loss"] for r in runs], 1, 4),
            f"{1e3 * statistics.median(t for r in runs for t in r['step_seconds'][1:]):.0f}",
            f"{1e3 * statistics.median(times):.0f}", f"{1e3 * times[int(len(times) * 0.99)]:.0f}",
            f"{100 * statistics.mean(r['delivered_share'] for r in runs):.2f}",
            f"{100 * min(r['delivered_share_min'] for r in runs):.2f}", marked,
            "yes" if all(r["identical"] for r in runs) else "NO")


def table(results):
    """Markdown: a row per variant."""
    head = ("variant", "test accuracy %", "training loss", "step ms", "all-reduce ms", "its p99", "delivered %",
            "worst step %", "of lost, droppable %", "replicas identical")
    rows = [head, ("---",) * len(head)]
    for variant, (_, licensed, _, name) in VARIANTS.items():
        runs = [r for r in results if r["variant"] == variant]
        if runs:
            rows.append(row(runs, name, licensed))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--every", type=int, default=10, help="steps between two points of the curves")
    parser.add_argument("--budget", type=float, default=0.05, help="P: share of each sum that may be lost")
    parser.add_argument("--shed", type=float, default=0.02, help="S: share of all packets that the ports drop")
    parser.add_argument("--rate", default="400mbit", help="of every port")
    parser.add_argument("--queue", default="64k", help="of every port, in bytes")
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="only these; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="write every run's figures there")
    parser.add_argument("--plot", type=pathlib.Path, help="write the curves there (PNG)")
    parser.add_argument("--build", type=pathlib.Path, help="a build folder; without it build/release is made")
    options = parser.parse_args(arguments)
    if not 0 < options.budget <= 0.25:
        parser.error("--budget must be above 0 and at most 0.25")
    if not 0 <= options.shed <= DROPPABLE_SHARE:
        parser.error(f"--shed must be 0 to {DROPPABLE_SHARE}: more than that share of packets is not marked droppable")
    if min(options.seeds, options.steps, options.every) < 1:
        parser.error("--seeds, --steps and --every must be at least 1")
    return options


def missing_packages():
    """What the runs need and this interpreter lacks, as one sentence; None if nothing."""
    try:
        import numpy, sklearn  # noqa: E401,F401
    except ImportError as error:
        return (f"this interpreter ({sys.executable}) has no {error.name}; run scripts/setup training, "
                "then /usr/bin/python3 with this script")
    return None


def main():
    options = parse()
    reason = missing_packages() or rig.permitted()
    if reason:
        print(f"train: {reason}", file=sys.stderr)
        return 3
    build = rig.Build(options.build.resolve()) if options.build else rig.make_build(
        rig.ROOT / "build" / "release", TRAINING_TARGETS)
    try:
        results = run_all(options, build)
    except RuntimeError as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    if options.json:
        options.json.write_text(json.dumps(results))
    if options.plot:
        import curves
        curves.plot(results, {name: row[3] for name, row in VARIANTS.items()}, options.plot)
    print(f"{options.seeds} seeds, {options.steps} steps, P = {options.budget:g}, {100 * options.shed:g}% of packets "
          f"dropped, ports of {options.rate} with {options.queue} of queue\n\n{table(results)}")
    return 0 if all(r["identical"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
