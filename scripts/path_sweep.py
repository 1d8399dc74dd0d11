"""scripts/bench --paths: the plugin and TCP over paths of any delay, jitter and loss, as in clouds and on long links,
through test/rig/traffic/path_relay or, with --netem, the kernel's netem (in a guest if this kernel has none). Standard
library only; the heat map needs matplotlib."""

import dataclasses
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import rig

PREFIX = f"dlp{os.getpid() % 10000}x"
TARGET = 0.9  # of the better of cubic and bbr
LINK_TARGET = 0.8  # of a link that is the bottleneck
FAIR_TCP, FAIR_OURS = 0.8, 0.5  # of half the link, when both share it


@dataclasses.dataclass(frozen=True)
class Path:
    """A path: round trip of the empty path in us, jitter as a share of it, loss as a share of packets, and how many
    connections use it. Jitter is uniform and keeps order, unless `free`."""
    base_us: int
    jitter: float = 0
    loss: float = 0
    flows: int = 1
    free: bool = False
    rate_mbit: int = 0
    queue_kib: int = 256
    step_us: int = 0  # increase of the round trip in the middle of the run

    def settings(self, seconds):
        settings = [f"delay={self.base_us // 2}", f"jitter={round(self.base_us * self.jitter / 2)}",
                    f"order={'free' if self.free else 'keep'}", f"loss={round(self.loss * 1e6)}"]
        if self.rate_mbit:
            settings += [f"rate={self.rate_mbit}", f"queue={self.queue_kib}"]
        if self.step_us:
            settings.append(f"step={round(1000 * seconds / 2)}:{self.step_us // 2}")
        return settings

    def name(self):
        extra = f" {self.rate_mbit}M/{self.queue_kib}K" if self.rate_mbit else ""
        extra += " reorder" if self.free else ""
        extra += f" +{time_text(self.step_us)}" if self.step_us else ""
        return f"{time_text(self.base_us)} j{self.jitter:g} {self.loss:.1%} x{self.flows}{extra}"


def time_text(us):
    return f"{us / 1000:g}ms" if us >= 1000 else f"{us}us"


def grid(bases, jitters, losses, flows):
    return [Path(*cell) for cell in itertools.product(bases, jitters, losses, flows)]


FULL = grid((200, 1000, 5000, 20_000, 100_000), (0, 0.5, 2), (0, 0.001, 0.01), (1, 4, 16))
QUICK = grid((200, 5000, 100_000), (0, 2), (0, 0.01), (1,))
MORE = (Path(200, 1, free=True), Path(400, 2.5, free=True), Path(1000, 0, step_us=2000), Path(200, 0, step_us=2000))

# A guest's processors may be emulated: netem's paths end in a link that even such a guest can fill.
NETEM_MBIT = 20
NETEM_MODULES = "sch_netem sch_tbf veth bridge cls_bpf tcp_bbr"


def netem_grid(bases, jitters, losses, flows):
    """The grid with queues of a round trip, but at least 64 KiB."""
    return [dataclasses.replace(path, rate_mbit=NETEM_MBIT, queue_kib=max(64, path.base_us * NETEM_MBIT // 8192))
            for path in grid(bases, jitters, losses, flows)]


NETEM_FULL = netem_grid((200, 1000, 5000, 20_000, 100_000), (0, 0.5, 2), (0, 0.01), (1, 4))
NETEM_QUICK = netem_grid((200, 5000, 100_000), (0, 2), (0, 0.01), (1,))
# A link that is the bottleneck, with a shallow and a deep queue, in packets of 1500 bytes.
BESIDE = (Path(1000, rate_mbit=400, queue_kib=25), Path(1000, rate_mbit=400, queue_kib=500),
          Path(10_000, rate_mbit=400, queue_kib=250), Path(10_000, rate_mbit=400, queue_kib=5000))
FAULTS = ("delay_us=200", "delay_us=1000,jitter_us=200", "delay_us=200,jitter_us=500", "delay_us=200,drop=0.01")


def size_of(path):
    """Message sizes as in NCCL's Simple protocol; 8 messages fill a path of 100 ms only if they are large."""
    return "4M" if path.base_us >= 20_000 else "1M"


class Sweep:
    """Runs cells, each with strictly alternating sides, and keeps medians."""

    def __init__(self, arguments, build, progress, congestion_controls):
        self.arguments, self.build, self.progress = arguments, build, progress
        self.controls = congestion_controls
        self.network = rig.NetemPath if arguments.netem else rig.RelayedPath

    def seconds(self, path):
        """At least 30 round trips, so that the start has little weight."""
        return max(self.arguments.seconds, 30 * path.base_us * (1 + path.jitter) / 1e6)

    def command(self, path, plugin, seconds):
        return [self.build.dlcp, "bench", "--mode", "bw", "--size", size_of(path), "--channels", str(path.flows),
                "--seconds", str(seconds), "--plugin", plugin, "--netns", PREFIX, "--json"]

    def once(self, path, control):
        """(Gb/s over a separate relay, the relay's report, an error); `control`: TCP's congestion control, None for DLCP."""
        seconds = self.seconds(path)
        with self.network(self.build, PREFIX, *path.settings(seconds)) as relayed:
            if control:
                relayed.set(f"cc={control}")
            plugin = self.build.tcp if control else self.build.plugin
            code, result, errors = rig.run_json(self.command(path, plugin, seconds), timeout=90 + 10 * seconds)
        error = None if result and not result.get("bytes_wrong") else (errors.strip() or f"exit code {code}")
        return (result or {}).get("bus_gbps"), relayed.report, error

    def cell(self, path):
        sides = [None, *self.controls]
        rates, late, errors = {side: [] for side in sides}, [], {side: set() for side in sides}
        for run in range(self.arguments.runs):
            for side in sides if run % 2 == 0 else sides[::-1]:
                self.progress(f"{path.name()}: run {run + 1} of {self.arguments.runs}, {side or 'DLCP'}")
                rate, report, error = self.once(path, side)
                rates[side].append(rate or 0)
                late += [report["forth"]["late_us"]["p99"]] if report else []
                errors[side] |= {error} - {None}
        return result_of(path, rates, late, {side or "ours": sorted(said) for side, said in errors.items()})

    def beside(self, path):
        """The shares of a link that TCP and DLCP get at the same time."""
        seconds = self.seconds(path) + 3
        shares = {None: [], "tcp": []}
        for run in range(self.arguments.runs):
            self.progress(f"{path.name()}: beside TCP, run {run + 1} of {self.arguments.runs}")
            with self.network(self.build, PREFIX, *path.settings(seconds)) as relayed:
                relayed.set(f"cc={self.controls[0]}")
                processes = {side: subprocess.Popen(
                    [str(part) for part in self.command(path, self.build.tcp if side else self.build.plugin, seconds)],
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for side in shares}
                for side, process in processes.items():
                    result = json.loads(process.communicate(timeout=90 + 10 * seconds)[0] or "{}")
                    shares[side].append((result.get("bus_gbps") or 0) * 1000 / path.rate_mbit)
        ours, tcp = (statistics.median(shares[side]) for side in (None, "tcp"))
        return {"beside": path.name(), "ours": ours, "tcp": tcp,
                "met": tcp >= FAIR_TCP / 2 and ours >= FAIR_OURS / 2}

    def fault(self, fault):
        """DLCP alone, over loopback, with DLCP_FAULT applied to every packet."""
        rates, errors = [], []
        for run in range(self.arguments.runs):
            self.progress(f"DLCP_FAULT={fault}: run {run + 1} of {self.arguments.runs}")
            command = [self.build.dlcp, "bench", "--mode", "bw", "--size", "1M", "--json", "--plugin",
                       self.build.plugin, "--seconds", str(self.arguments.seconds)]
            status, result, said = rig.run_json(command, {"DLCP_FAULT": fault, "DLCP_IFNAME": "lo"}, timeout=120)
            rates.append((result or {}).get("bus_gbps") or 0)
            if status:
                errors.append((result or {}).get("error") or said.strip() or f"exit code {status}")
        return {"fault": fault, "ours": statistics.median(rates), "spread": rates, "errors": errors,
                **({"met": False} if errors else {})}


def result_of(path, rates, late, errors):
    medians = {side or "ours": statistics.median(values) for side, values in rates.items()}
    best = max(value for side, value in medians.items() if side != "ours")
    ratio = medians["ours"] / best if best else None
    share = medians["ours"] * 1000 / path.rate_mbit if path.rate_mbit else None
    # Where even the better TCP does not fill the link, the link is not the bottleneck.
    filled = share is None or share >= LINK_TARGET or best * 1000 < LINK_TARGET * path.rate_mbit
    return {**dataclasses.asdict(path), "path": path.name(), "gbps": medians, "ratio": ratio, "link_share": share,
            "met": ratio is not None and ratio >= TARGET and filled and not errors["ours"],  # TCP's own errors count as a rate of 0
            "errors": [f"{side}: {said}" for side, one in errors.items() for said in one],
            "relay_late_p99_us": statistics.median(late) if late else None,
            "spread": {side or "ours": values for side, values in rates.items()}}


HEADING = f"{'round trip, jitter, loss, flows':<34} {'DLCP':>6} {'cubic':>6} {'bbr':>6} {'ratio':>6} {'late us':>8}"


def line(result):
    if "beside" in result:
        return (f"{result['beside']:<34} DLCP {result['ours']:.2f} of the link, TCP {result['tcp']:.2f}"
                f"  {'met' if result['met'] else 'MISSED'}")
    if "fault" in result:
        text = f"{'DLCP_FAULT=' + result['fault']:<40} {result['ours']:>6.2f}"
        return "\n".join([text, *(f"    error: {e}"[:79] for e in result["errors"])])
    scale, digits = (1000, 1) if result["rate_mbit"] else (1, 2)  # Mbit/s for a slow link
    rates = [f"{scale * result['gbps'][side]:>6.{digits}f}" if side in result["gbps"] else f"{'-':>6}"
             for side in ("ours", "cubic", "bbr")]
    ratio = f"{result['ratio']:.2f}" if result["ratio"] is not None else "-"
    late = f"{result['relay_late_p99_us']:.0f}" if result["relay_late_p99_us"] is not None else "-"
    text = f"{result['path']:<34} {' '.join(rates)} {ratio:>6} {late:>8} {'met' if result['met'] else 'MISSED'}"
    return "\n".join([text, *(f"    error: {e}"[:79] for e in result["errors"])])


def plot(results, path):
    """A heat map of the ratio: a row for each round trip and jitter, a column for each loss and number of flows."""
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
        matplotlib.use("Agg")
        from matplotlib import colors, pyplot
    except ImportError:
        print("--plot: skipped, matplotlib is not installed", file=sys.stderr)
        return
    cells = {(r["base_us"], r["jitter"], r["loss"], r["flows"]): r["ratio"] for r in results
             if r.get("ratio") and not (r["free"] or r["step_us"])}
    rows = sorted({key[:2] for key in cells})
    columns = sorted({key[2:] for key in cells})
    values = [[cells.get((*row, *column), float("nan")) for column in columns] for row in rows]
    figure, axes = pyplot.subplots(figsize=(1.1 * len(columns) + 2.5, 0.5 * len(rows) + 1.5))
    image = axes.imshow(values, aspect="auto", cmap="RdYlGn", norm=colors.LogNorm(0.1, 10))
    axes.set_xticks(range(len(columns)), [f"{loss:.1%}\nx{flows}" for loss, flows in columns])
    axes.set_yticks(range(len(rows)), [f"{time_text(base)}, jitter {jitter:g}" for base, jitter in rows])
    axes.set_xlabel("loss, connections")
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            axes.text(x, y, f"{value:.2g}", ha="center", va="center", fontsize=8)
    figure.colorbar(image, label="DLCP / better of cubic and bbr")
    figure.tight_layout()
    figure.savefig(path)


def cells_of(arguments):
    if arguments.netem:
        return NETEM_QUICK if arguments.quick else NETEM_FULL
    return [*(QUICK if arguments.quick else FULL), *MORE]


def available_controls():
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control", encoding="ascii") as file:
        available = file.read().split()
    return [control for control in ("cubic", "bbr") if control in available]


def in_guest(arguments, build):
    """Runs the same command in a guest that has netem; returns its results as main() makes them."""
    with tempfile.TemporaryDirectory() as share:
        results = pathlib.Path(share, "results.json")
        command = [sys.executable, str(rig.ROOT / "scripts" / "bench"), "--paths", "--netem", "--build",
                   str(build.folder.resolve()), "--runs", str(arguments.runs), "--seconds", str(arguments.seconds),
                   "--json", str(results), *(["--quick"] if arguments.quick else []),
                   *(part for row in arguments.row or () for part in ("--row", row))]
        print("this kernel has no netem: running in a guest, whose processors may be emulated", flush=True)
        done = subprocess.run([str(rig.GUEST), "--modules", NETEM_MODULES, "--timeout", str(24 * 3600), "--memory",
                               "4096", "--share", share, "--", *command], check=False)
        if not results.exists():
            return done.returncode or 1
        if arguments.json:
            arguments.json.write_text(results.read_text())
        if arguments.plot:
            plot(json.loads(results.read_text())["paths"], arguments.plot)
        return done.returncode


def main(arguments, build, progress):
    if arguments.netem and not rig.has_netem():
        return in_guest(arguments, build)
    controls = available_controls()
    sweep = Sweep(arguments, build, progress, controls)
    chosen = [path for path in cells_of(arguments)
              if not arguments.row or any(path.name().startswith(row) for row in arguments.row)]
    what = "Mbit/s; netem" if arguments.netem else "Gb/s; relay"
    print(f"{arguments.runs} runs of at least {arguments.seconds:g} s each, {what}, sender and receiver share "
          f"{os.cpu_count()} cores,\nand late us is how late the relay delivered (p99). "
          f"TCP: {' and '.join(controls)}, as NCCL's own transport uses it")
    print(HEADING)
    results = []
    others = [] if arguments.row or arguments.netem else [*((sweep.beside, path) for path in BESIDE),
                                       *((sweep.fault, fault) for fault in FAULTS)]
    for measure, what in [*((sweep.cell, path) for path in chosen), *others]:
        results.append(measure(what))
        progress("")
        print(line(results[-1]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps({"runs": arguments.runs, "seconds": arguments.seconds,
                                              "kernel": os.uname().release, "cores": os.cpu_count(),
                                              "paths": results}, indent=1) + "\n")
    if arguments.plot:
        plot(results, arguments.plot)
    judged = [r for r in results if r.get("met") is not None]
    missed = sum(not r["met"] for r in judged)
    print(f"{len(judged) - missed} targets met, {missed} missed (at least {TARGET} of the better of TCP's; beside TCP, "
          f"{FAIR_TCP} and {FAIR_OURS} of half the link)")
    return 1 if missed else 0
