"""The page that `scripts/bench --page` writes: results, machine and commit."""

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
    """Facts that a reader needs to judge the figures, including the load of the machine."""
    return {"commit": _commit(root), "date": datetime.date.today().isoformat(), "kernel": os.uname().release,
            "processor": _processor(), "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)}


def markdown(results, runs, seconds, where, number):
    """The page as text. `number` formats a figure as in the table on the terminal."""
    lines = ["# Measured", "",
             f"Written by `scripts/bench --page`. Medians of {runs} round{'s' if runs > 1 else ''}, in which both sides "
             f"transfer in turn for {seconds:g} s or a multiple; TCP uses cubic. "
             f"Commit {where['commit']}, {where['date']}, kernel {where['kernel']}, {where['cores']} cores of "
             f"{where['processor']}, load {where['load']} before the start.", "",
             "| row | unit | DLCP | TCP, or other | ratio (quartiles) | target | result |", "|---|---|---|---|---|---|---|"]
    for result in results:
        other = number(result.get("other"))
        if result.get("against", "tcp") != "tcp":
            other += f" ({result['against']})"
        ratio = number(result.get("ratio"))
        if result.get("ratio_quartiles"):
            ratio += f" ({number(result['ratio_quartiles'][0])} to {number(result['ratio_quartiles'][2])})"
        verdict = "; ".join(result["errors"]).replace("|", "\\|") or {True: "met", False: "**missed**", None: ""}[result["met"]]
        verdict = "; ".join(filter(None, [verdict, *(note.replace("|", "\\|") for note in result.get("notes", []))]))
        lines.append(f"| {result['row']} | {result.get('unit', '')} | {number(result.get('ours'))} | {other} "
                     f"| {ratio} | {result['target']} | {verdict} |")
    failed = sum(bool(result["errors"]) for result in results)
    met, missed = (sum(result["met"] is wanted and not result["errors"] for result in results) for wanted in (True, False))
    return "\n".join([*lines, "", f"{met} targets met, {missed} missed, {failed} rows failed."]) + "\n"
