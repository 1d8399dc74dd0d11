"""The page that `scripts/bench --page` writes: what was measured, on which machine, of which commit."""

import datetime
import os
import pathlib
import platform
import subprocess


def _processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _commit(root):
    done = subprocess.run(["git", "-C", root, "describe", "--always", "--dirty"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() or "unknown"


def circumstances(root):
    """What a reader must know to judge the figures: who else was on the machine is part of it."""
    return {"commit": _commit(root), "date": datetime.date.today().isoformat(), "kernel": os.uname().release,
            "processor": _processor(), "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}


def markdown(results, runs, seconds, where, number):
    """The page as text; `number` writes a figure as the table on the terminal does."""
    lines = ["# Measured", "",
             f"Written by `scripts/bench --page`: {runs} run{'s' if runs > 1 else ''} of {seconds:g} s each side in turn, "
             "medians; TCP with cubic. "
             f"Commit {where['commit']}, {where['date']}, kernel {where['kernel']}, {where['cores']} cores of "
             f"{where['processor']}, load {where['load']} before.", "",
             "| row | unit | DLCP | TCP, or other | ratio | target | |", "|---|---|---|---|---|---|---|"]
    for result in results:
        other = number(result.get("other"))
        if result.get("against", "tcp") != "tcp":
            other += f" ({result['against']})"
        verdict = "; ".join(result["errors"]).replace("|", "\\|") or {True: "met", False: "**missed**", None: ""}[result["met"]]
        verdict = "; ".join(filter(None, [verdict, *(note.replace("|", "\\|") for note in result.get("notes", []))]))
        lines.append(f"| {result['row']} | {result.get('unit', '')} | {number(result.get('ours'))} | {other} "
                     f"| {number(result.get('ratio'))} | {result['target']} | {verdict} |")
    failed = sum(bool(result["errors"]) for result in results)
    met, missed = (sum(result["met"] is wanted and not result["errors"] for result in results) for wanted in (True, False))
    return "\n".join([*lines, "", f"{met} targets met, {missed} missed, {failed} rows failed."]) + "\n"
