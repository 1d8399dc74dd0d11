#!/usr/bin/env python3
"""Trains a small network on scikit-learn's digits with 4 data-parallel processes whose gradients are summed over
the plugin's own connections, on a network that drops packets and has short queues; compares several variants.

  train.py [--seeds N] [--steps N] [--budget P] [--shed S] [--run N] [--variant NAME]... [--json FILE] [--plot FILE]
           [--build DIR]

Each process runs in its own network namespace; ports have a rate and a short queue, and S of all packets are dropped
at random. "tags": in a licensed class the ports drop only the packets marked droppable, four times as often.
"untagged": the same sender, but all gradient classes have one code point, dropped at S. Both lose the same share.
--run: that many packets are dropped in a row, which lengthens the tail. "direct" and "hub" sum gradients through the
CollNet interface, the latter with as many hubs as processes. Needs root for the network. Exit: 0 done, 1 replicas
differ or a rank failed, 2 usage, 3 not possible here."""

import argparse
import contextlib
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
DROPPABLE_SHARE = 0.25  # of licensed packets: the share that the sender marks (src/core/config.h)
PROTECTED, DROPPABLE = (10, 20), (12, 14, 22)  # code points of include/dlcp/traffic_class.h
# One code point, and so one queue, for every licensed class.
UNTAGGED = "".join(f"{name}.queue = bulk\n{name}.dscp = 14\n" for name in
                   ("urgent-protected", "urgent-droppable", "bulk-protected", "bulk-middle", "bulk-droppable"))
VARIANTS = {  # plugin, algorithm, has a budget, is tagged, name in tables
    "exact": ("dlcp", "ring", False, True, "DLCP exact"),
    "tags": ("dlcp", "ring", True, True, "DLCP, bounded loss with tags"),
    "untagged": ("dlcp", "ring", True, False, "DLCP, bounded loss without tags"),
    "tcp": ("tcp", "ring", False, True, "reliable TCP (cubic)"),
    "direct": ("dlcp", "direct", False, True, "direct exchange, exact"),
    "direct-tags": ("dlcp", "direct", True, True, "direct exchange, bounded loss"),
    "hub": ("dlcp", "hub", False, True, "hubs, exact"),
    "hub-tags": ("dlcp", "hub", True, True, "hubs, bounded loss"),
}
HUBS = RANKS
TRAINING_TARGETS = (*rig.BENCH_TARGETS, "training_allreduce", "dlcp-hub")


def loss_settings(variant, shed, run=1, ppm=1_000_000):
    """The netns settings that drop that share of all packets, and of licensed ones as the variant needs."""
    rates = {}
    _, _, licensed, tagged, _ = VARIANTS[variant]
    if licensed and tagged:
        rates = {**dict.fromkeys(PROTECTED, 0), **dict.fromkeys(DROPPABLE, round(shed / DROPPABLE_SHARE * ppm))}
    settings = [f"loss={round(shed * ppm)}", f"lossrun={run}"]
    if rates and shed > 0:
        settings.append("dscploss=" + ",".join(f"{dscp}:{rate}" for dscp, rate in rates.items()))
    return settings


def train(variant, seed, options, build, network):
    """Runs one variant; returns the ranks' reports, with rank 0's curves. Raises RuntimeError if a rank fails."""
    plugin, algorithm, licensed, tagged, _ = VARIANTS[variant]
    network.set("loss=0")
    with tempfile.TemporaryDirectory(prefix="dlcp-training-") as folder, contextlib.ExitStack() as stack:
        environment = {**os.environ, "DLCP_STATS_FILE": f"{folder}/stats.%p.json", "OPENBLAS_NUM_THREADS": "1",
                       "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1", "DLCP_CONFIG": ""}
        if not tagged:
            classes = pathlib.Path(folder, "classes")
            classes.write_text(UNTAGGED)
            environment["DLCP_CLASSES"] = str(classes)
        if algorithm == "hub":
            environment["DLCP_COLLNET_HUBS"] = ",".join(stack.enter_context(hubs(build)))
        task = {"folder": folder, "library": str(build.folder / "lib" / "libtraining_allreduce.so"),
                "plugin": str(build.plugin if plugin == "dlcp" else build.tcp), "ranks": RANKS, "seed": seed, "algorithm": algorithm,
                "budget": options.budget if licensed else 0, "steps": options.steps, "every": options.every}
        workers = [subprocess.Popen(["ip", "netns", "exec", f"{PREFIX}{rank}", sys.executable, HERE / "worker.py",
                                     json.dumps({**task, "rank": rank})], env=environment, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True) for rank in range(RANKS)]
        try:
            # On an almost idle network a run of losses would last for seconds, and connections could not be set up.
            connected = [pathlib.Path(folder, f"connected{rank}") for rank in range(RANKS)]
            collect(workers, 60, lambda: all(file.exists() for file in connected))
            network.set(*loss_settings(variant, options.shed, options.run))
            pathlib.Path(folder, "begin").touch()
            collect(workers, 60 + 4 * options.steps)
            return [json.loads(worker.stdout.read()) for worker in workers]
        finally:
            for worker in workers:
                worker.kill()
                worker.communicate()


@contextlib.contextmanager
def hubs(build):
    """Starts hubs in the namespaces after the ranks'; their addresses."""
    command = [build.folder / "bin" / "dlcp-hub", "serve"]
    running = [subprocess.Popen(["ip", "netns", "exec", f"{PREFIX}{RANKS + hub}", *command], stderr=subprocess.PIPE,
                                text=True) for hub in range(HUBS)]
    try:
        places = []
        for hub in running:
            said = ""
            while "ready at " not in said:
                line = hub.stderr.readline()
                if not line:
                    raise RuntimeError(f"dlcp-hub: {said}")
                said += line
            places.append(said.rsplit("ready at ", 1)[1].strip())
        yield places
    finally:
        for hub in running:
            hub.kill()
            hub.communicate()


def collect(workers, timeout, reached=lambda: False):
    """Waits for the end of all workers, or for `reached`. The first failure ends the run: the other ranks only wait for it."""
    until = time.monotonic() + timeout
    while not reached() and any(worker.poll() is None for worker in workers):
        failed = [rank for rank, worker in enumerate(workers) if worker.poll()]
        if failed or time.monotonic() > until:
            break
        time.sleep(0.05)
    for rank, worker in enumerate(workers):
        if worker.poll():
            raise RuntimeError(f"rank {rank}: {worker.stderr.read().strip() or f'exit code {worker.returncode}'}")
    if not reached() and any(worker.poll() is None for worker in workers):
        raise RuntimeError(f"no end after {timeout} s")


def summary(variant, seed, reports):
    """The result of one run."""
    times = reports[0]["reduce_seconds"]
    lost = [sum(shares) for shares in zip(*(r["lost_share"] for r in reports))]  # of each step, of all results
    counters = {}
    for report in reports:
        for name, value in report["counters"].items():
            if isinstance(value, int):
                counters[name] = counters.get(name, 0) + value
    if VARIANTS[variant][1] == "direct":  # owners count missing contributions, but not per step
        elements = reports[0]["elements"] * RANKS * len(lost)
        lost = [counters.get("bytes_lost", 0) / 4 / elements] * len(lost)
    return {"variant": variant, "seed": seed, "identical": len({r["weights"] for r in reports}) == 1,
            "weights": reports[0]["weights"], "curve": reports[0]["curve"], "reduce_seconds": times,
            "step_seconds": reports[0]["step_seconds"], "step_count": len(lost), "elements": reports[0]["elements"],
            "accuracy": reports[0]["curve"][-1]["accuracy"], "loss": reports[0]["curve"][-1]["loss"],
            "delivered_share": 1 - statistics.mean(lost), "delivered_share_min": 1 - max(lost), "counters": counters}


def progress(text):
    print(f"  {text} ...", file=sys.stderr, flush=True)


def run_all(options, build):
    results = []
    with rig.Network(PREFIX, RANKS + HUBS, *NETWORK, f"rate={options.rate}", f"queue={options.queue}") as network:
        for seed in range(1, options.seeds + 1):
            for variant in options.variant or VARIANTS:
                progress(f"seed {seed} of {options.seeds}: {VARIANTS[variant][-1]}")
                results.append(summary(variant, seed, train(variant, seed, options, build, network)))
                if options.json:  # the results so far
                    options.json.write_text(json.dumps(results))
    return results


def spread(values, scale=1.0, digits=1):
    low, high = min(values) * scale, max(values) * scale
    middle = f"{statistics.median(values) * scale:.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({low:.{digits}f}-{high:.{digits}f})"


def droppable_share(counters):
    """The share of the lost bytes that the sender had marked droppable."""
    marked = counters.get("bytes_lost_bulk_droppable", 0) + counters.get("bytes_lost_urgent_droppable", 0)
    of = marked + counters.get("bytes_lost_bulk_protected", 0) + counters.get("bytes_lost_urgent_protected", 0)
    return marked / of if of else 0.0


def delivered(runs):
    """In percent, for all steps and for the worst one. Losses at hubs are counted only there."""
    if VARIANTS[runs[0]["variant"]][1] == "hub":
        return "-", "-"
    return (f"{100 * statistics.mean(r['delivered_share'] for r in runs):.2f}",
            f"{100 * min(r['delivered_share_min'] for r in runs):.2f}")


def row(runs, name, licensed):
    """One variant's cells: medians, ranges over the seeds in brackets."""
    times = sorted(t for r in runs for t in r["reduce_seconds"][1:])
    marked = f"{100 * statistics.mean(droppable_share(r['counters']) for r in runs):.0f}" if licensed else "-"
    return (name, spread([r["accuracy"] for r in runs], 100), spread([r["loss"] for r in runs], 1, 4),
            f"{1e3 * statistics.median(t for r in runs for t in r['step_seconds'][1:]):.0f}",
            f"{1e3 * statistics.median(times):.0f}", f"{1e3 * times[int(len(times) * 0.99)]:.0f}",
            *delivered(runs), marked,
            "yes" if all(r["identical"] for r in runs) else "NO")


def seconds_to(run, accuracy):
    return next(point["seconds"] for point in run["curve"] if point["accuracy"] >= accuracy)


def against_ring(results, runs):
    """Seconds to the accuracy that all runs of a seed reach, and the exact ring's time divided by it; medians of the seeds."""
    times, ratios = [], []
    for run in runs:
        of_seed = [other for other in results if other["seed"] == run["seed"]]
        reached = min(max(point["accuracy"] for point in other["curve"]) for other in of_seed)
        times.append(seconds_to(run, reached))
        ratios += [seconds_to(other, reached) / times[-1] for other in of_seed if other["variant"] == "exact"]
    return f"{statistics.median(times):.2f} s", f"{statistics.median(ratios):.2f}" if ratios else "-"


def table(results):
    """A Markdown table with a row per variant."""
    head = ("variant", "test accuracy %", "training loss", "step ms", "all-reduce ms", "its p99", "delivered %",
            "worst step %", "of lost, droppable %", "replicas identical", "time to accuracy", "ring's, of this")
    rows = [head, ("---",) * len(head)]
    for variant, (_, _, licensed, _, name) in VARIANTS.items():
        runs = [r for r in results if r["variant"] == variant]
        if runs:
            rows.append((*row(runs, name, licensed), *against_ring(results, runs)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--every", type=int, default=10, help="steps between two points of the curves")
    parser.add_argument("--budget", type=float, default=0.05, help="P: share of each sum that may be lost")
    parser.add_argument("--shed", type=float, default=0.02, help="S: share of all packets that the ports drop")
    parser.add_argument("--run", type=int, default=1, help="packets that are dropped in a row")
    parser.add_argument("--rate", default="400mbit", help="rate of every port")
    parser.add_argument("--queue", default="64k", help="queue of every port, in bytes")
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="only these; may be repeated")
    parser.add_argument("--json", type=pathlib.Path, help="write every run's figures to this file")
    parser.add_argument("--plot", type=pathlib.Path, help="write the curves to this file (PNG)")
    parser.add_argument("--build", type=pathlib.Path, help="a build folder; without this option build/release is built")
    options = parser.parse_args(arguments)
    if not 0 < options.budget <= 0.25:
        parser.error("--budget must be above 0 and at most 0.25")
    if not 0 <= options.shed <= DROPPABLE_SHARE:
        parser.error(f"--shed must be 0 to {DROPPABLE_SHARE}: more than that share of packets is not marked droppable")
    if min(options.seeds, options.steps, options.every, options.run) < 1:
        parser.error("--seeds, --steps, --every and --run must be at least 1")
    return options


def missing_packages():
    """The missing package and how to install it, as one sentence; None if nothing is missing."""
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
    if options.plot:
        import curves
        curves.plot(results, {name: row[-1] for name, row in VARIANTS.items()}, options.plot)
    print(f"{options.seeds} seeds, {options.steps} steps, P = {options.budget:g}, {100 * options.shed:g}% of packets "
          f"dropped, ports of {options.rate} with {options.queue} of queue\n\n{table(results)}")
    return 0 if all(r["identical"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
