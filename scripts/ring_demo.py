#!/usr/bin/env python3
"""The part of scripts/demo after the build: four ring all-reduces, gradients over a slow link, and tables."""

import argparse
import os
import pathlib
import sys

sys.dont_write_bytecode = True
import rig  # noqa: E402  (beside this script)

PREFIX = f"dld{os.getpid() % 10000}x"
RING = ("bench", "--mode", "ring", "--ranks", "4", "--size", "4M", "--json")
NETWORK = ("mtu=4200", "offload=seggro", "cc=cubic")
LOSS_PPM = 10000
GRADIENTS = ("bench", "--mode", "bw", "--ranks", "2", "--size", "1M", "--json")
SLOW_LINK = ("rate=1gbit", "queue=256k")
GRADIENT_KINDS = (("bf16", "bf16"), ("fp32", "f32"), ("fp32 of autocast", "amp"))  # name, value for --data


def run(build, plugin, seconds, label, *more, mode=RING, environment=None):
    print(f"  {label} ...", file=sys.stderr, flush=True)
    code, result, errors = rig.run_json([build.dlcp, *mode, "--plugin", plugin, "--seconds", str(seconds), *more],
                                        environment, timeout=60 + 10 * seconds, show=sys.stderr.isatty())
    if result is None:
        result = {"error": (errors or "").strip() or f"exit code {code}"}
    return {**result, "exit_code": code}


def in_namespaces(build, seconds):
    rows = []
    with rig.Network(PREFIX, 4, *NETWORK) as network:
        network.set(f"loss={LOSS_PPM}")  # if this is not possible, the demo uses loopback; it has printed nothing yet
        print("4 processes, ring all-reduce of 4 MiB of fp32, every element compared\n"
              "network: one namespace per process, a bridge, MTU 4200, real segmentation; TCP is cubic")
        for name, loss in (("clean", 0), ("1% loss", LOSS_PPM)):
            network.set(f"loss={loss}")
            for label, plugin in (("DLCP", build.plugin), ("TCP", build.tcp)):
                rows.append((name, label, run(build, plugin, seconds, f"{name}, {label}", "--netns", PREFIX)))
    return rows, "1% loss: eBPF at every switch port drops one packet in a hundred, for both plugins"


def gradients_over_a_slow_link(build, seconds):
    """(lines of a table, results): streams of gradients, which DLCP compresses, compared with TCP."""
    lines, results = [], []
    with rig.Network(PREFIX, 2, "mtu=1500", "offload=seggro", "cc=cubic", *SLOW_LINK):
        for name, data in GRADIENT_KINDS:
            rates = []
            for label, plugin in (("DLCP", build.plugin), ("TCP", build.tcp)):
                result = run(build, plugin, max(1, seconds / 3), f"{name} over 1 Gbit/s, {label}", "--netns", PREFIX,
                             "--data", data, mode=GRADIENTS, environment={"DLCP_COMPRESS": "auto"})
                results.append(result)
                if result.get("error"):
                    return [f"gradients over 1 Gbit/s, {label}: {result['error'][:70]}"], results
                rates.append(result["bus_gbps"])
            lines.append(f"{name:<18}{rates[0]:>10.2f}{rates[1]:>10.2f}{rates[0] / rates[1]:>8.2f}")
    return [f"{'1 Gbit/s link':<18}{'DLCP Gb/s':>10}{'TCP Gb/s':>10}{'ratio':>8}", *lines,
            "gradients in one direction, 1 MiB each, every byte compared; DLCP compresses them without loss"], results


def over_loopback(build, seconds, reason):
    print(f"4 processes, ring all-reduce of 4 MiB of fp32, every element compared\nnetwork: loopback ({reason})")
    environment = {"NCCL_SOCKET_IFNAME": "lo"}
    rows = [("clean", label, run(build, plugin, seconds, f"clean, {label}", environment=environment))
            for label, plugin in (("DLCP", build.plugin), ("TCP", build.tcp))]
    rows.append(("1% loss", "DLCP", run(build, build.plugin, seconds, "1% loss, DLCP", "--loss", "1%",
                                        environment=environment)))
    return rows, ("1% loss: injected inside the plugin. TCP has no such row: the kernel sends its packets, and\n"
                  "dropping those needs network namespaces, which root has on a host and in a privileged container.")


def cell(value, scale=1.0, digits=2):
    return "-" if value is None else f"{value * scale:.{digits}f}"


def table(rows):
    lines = [f"{'network':<9}{'plugin':<8}{'bus Gb/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'p99.9 ms':>10}{'CPU s/GiB':>10}"
             f"{'wrong elements':>16}"]
    for network, plugin, r in rows:
        if r.get("error"):
            lines.append(f"{network:<9}{plugin:<8}{r['error'][:63]}")
            continue
        lines.append(f"{network:<9}{plugin:<8}{cell(r['bus_gbps']):>9}{cell(r['p50_us'], 1e-3, 1):>9}"
                     f"{cell(r['p99_us'], 1e-3, 1):>9}{cell(r['p999_us'], 1e-3, 1):>10}"
                     f"{cell(r['cpu_s_per_gib']):>10}{r['elements_wrong']:>16}")
    return "\n".join(lines)


def verdict(rows):
    """A sentence about the rows with loss; empty if one of them is missing."""
    lossy = {plugin: r.get("bus_gbps") for network, plugin, r in rows if network != "clean"}
    if not lossy.get("DLCP") or not lossy.get("TCP"):
        return None
    return f"with 1% of packets lost, DLCP is {lossy['DLCP'] / lossy['TCP']:.1f} times as fast as TCP"


def exit_status(results):
    if any(r.get("elements_wrong") or r.get("bytes_wrong") or r["exit_code"] == 1 for r in results):
        return 1
    return 3 if any(r.get("error") for r in results) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--tool", default="dlcp", help="the program in bin/ that has the verb `bench`")
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    build = rig.Build(arguments.build.resolve(), arguments.tool)
    if build.missing():
        print(f"demo: {build.missing()}", file=sys.stderr)
        return 3
    reason = rig.permitted()
    try:
        rows, note = (over_loopback(build, arguments.seconds, reason) if reason
                      else in_namespaces(build, arguments.seconds))
    except RuntimeError as error:
        reason = str(error)
        rows, note = over_loopback(build, arguments.seconds, reason)
    print(f"\n{table(rows)}\n\n{note}")
    if verdict(rows):
        print(verdict(rows))
    results = [result for _, _, result in rows]
    if not reason:
        lines, more = gradients_over_a_slow_link(build, arguments.seconds)
        print("\n" + "\n".join(lines))
        results += more
    return exit_status(results)


if __name__ == "__main__":
    sys.exit(main())
