#!/usr/bin/env python3
"""Checks that every command in a report or a fabric's page exists on the release that it was rendered for.

  report_commands.py DLCP_SWITCH      Exit: 0 if all expectations hold.

The golden fabrics are rendered unchanged, and those with SONiC switches also for every known release. Commands are the
lines under "Commands to check the result" and the texts between backticks. The existing commands are data:
switch/targets/NAME.json (`commands`); for DLCP's own tools, the verbs that they list."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/switch/apply"))
from simulated_switch import expect  # noqa: E402

FABRICS = ROOT / "test/switch/golden/fabrics"
RELEASES = json.loads((ROOT / "switch/vendors/sonic/releases.json").read_text())
# First words of commands of all systems; any other text between backticks is a name.
HEADS = ("config", "show", "sonic-clear", "counterpoll", "sudo", "ecnconfig", "nv", "sonic-cfggen", "info", "gnmic", "tc", "commit",
         "qos", "TSA", "TSB", "dlcp", "dlcp-switch", "apply.sh", "rollback.sh", "persist.py", "guard.py", "configure", "copy", "tools", "bash")


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=900)


def number(version):
    """Versions are compared by their numbers: "24.10" is later than "24.3"."""
    return [int(word) for word in re.findall(r"\d+", version)] or [10 ** 9]


def targets():
    return {data["os"]: data for data in (json.loads(path.read_text()) for path in (ROOT / "switch/targets").glob("*.json"))}


def known(program, system, version, folder):
    """Beginnings of the commands that exist on that version."""
    rows = targets()[system].get("commands", [])
    list_ = [row["command"] for row in rows if number(row["since"]) <= number(version)]
    list_ += [f"dlcp-switch {verb}" for verb in re.findall(r"^  ([a-z]+) ", run(program, "--help").stdout, re.M)]
    list_ += ["dlcp doctor", "dlcp stats"]  # of the dlcp tool: src/cli
    return list_ + [path.name for path in folder.iterdir()]


def begins(command, known_one):
    """Whether a command is that one, with or without more words; {port} stands for any word."""
    words, wanted = command.split(), known_one.split()
    return len(words) >= len(wanted) and all(one in (word, "{port}") for word, one in zip(words, wanted))


def commands(text):
    """The commands that a page tells the reader to run."""
    block = re.search(r"## Commands to check the result\n\n```\n(.*?)```", text, re.S)
    for line in block[1].splitlines() if block else []:
        yield line.split("    # ")[0]
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S)):
        if span.split()[0] in HEADS:
            yield span


def check(program, intent, what):
    plans = json.loads(run(program, "plan", intent, "--json").stdout)["switches"]
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "out"
        done = run(program, "render", intent, "-o", out, "--unverified")
        expect(done.returncode == 0, f"{what} renders", done)
        count = 0
        for plan in plans:
            folder = out / plan["name"]
            there = known(program, plan["os"], plan["version"], folder)
            for command in commands((folder / "REPORT.md").read_text()):
                count += 1
                expect(any(begins(command, one) for one in there),
                       f"{what}, {plan['name']}: `{command}` exists on {plan['os']} {plan['version']}")
        return count


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    count = 0
    for intent in sorted(FABRICS.glob("*/intent.yaml")):
        count += check(program, intent, intent.parent.name)
    with tempfile.TemporaryDirectory() as scratch:
        oldest = [("cumulus-roce", "5.4"), ("eos-roce", "4.25")]
        for fabric, release in [*[("sonic-roce", release) for release in RELEASES["releases"]], *oldest]:
            copy = pathlib.Path(scratch) / f"{fabric}-{release}"
            shutil.copytree(FABRICS / fabric, copy)
            text = (copy / "intent.yaml").read_text()
            text = text.replace("../../../data/", f"{ROOT}/test/switch/data/")  # relative to the fabric's folder
            (copy / "intent.yaml").write_text(re.sub(r'version: "[^"]+"', f'version: "{release}"', text))
            count += check(program, copy / "intent.yaml", f"{fabric} as {release}")
    # The check itself must be able to fail.
    there = known(program, "sonic", "202311", ROOT)
    expect("show queue wredcounters" not in there and "show switch-hash global" in there, "releases differ")
    expect(count > 200, f"{count} commands looked up")
    print(f"report_commands: {count} commands looked up")


if __name__ == "__main__":
    main()
