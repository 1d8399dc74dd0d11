#!/usr/bin/env python3
"""Renders a fabric of 1,000 switches with 64 ports each and measures it: time and memory stay within
what an operator would wait for. The bound on time is on the program's own (user) seconds and is wide,
because test machines are busy and their disks slow; the figures are printed. With a config_db.json, every switch has a running configuration of its own.

  thousand.py DLCP_SWITCH [--config CONFIG_DB]

Exit: 0 within bounds, 1 not, or dlcp-switch failed."""

import argparse
import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

SWITCHES = 1000
PORTS = 64
USER_SECONDS_MAX = 40
MEMORY_MB_MAX = 500

FABRIC = """fabric:
  name: thousand
  base_rtt: 12us
  link_speed: 400G
"""
SITE = """site:
  dscp_map: {24-31: 3, EF: 5, CS6: 6}
  pfc_priorities: [3]
  queues:
    - {queue: 0, weight: 20}
    - {queue: 3, weight: 40, lossless: yes}
    - {queue: 5, weight: 10}
"""
SWITCH = """  - name: %s[1-%d]
    os: sonic
    version: "202311"
    asic: tomahawk4
    role: %s
%s    ports:
      - {ports: "Ethernet[0-248:8]", role: host, trust: dscp}
      - {ports: "Ethernet[256-504:8]", role: fabric}
"""


def widened(config):
    """The configuration with the rows of its first port for each of 64 ports."""
    wide = {}
    for table, rows in config.items():
        wide[table] = {key: row for key, row in rows.items() if not re.match(r"Ethernet\d", key)}
        for key, row in rows.items():
            if key == "Ethernet0" or key.startswith("Ethernet0|"):
                for port in range(0, PORTS * 8, 8):
                    wide[table][f"Ethernet{port}{key[len('Ethernet0'):]}"] = row
    return wide


def prepare(folder, config):
    imports = ""
    if config:
        wide = widened(json.loads(config.read_text()))
        (folder / "running").mkdir()
        for number in range(1, SWITCHES + 1):
            wide["DEVICE_METADATA"]["localhost"]["hostname"] = f"leaf{number}"
            (folder / "running" / f"leaf{number}.json").write_text(json.dumps(wide))
        imports = "    running_config: running/{name}.json\n"
        text = FABRIC + "switches:\n" + SWITCH % ("leaf", SWITCHES, "leaf", imports)
    else:
        text = (FABRIC + SITE + "switches:\n" + SWITCH % ("leaf", SWITCHES - 200, "leaf", "") +
                SWITCH % ("spine", 200, "spine", ""))
    (folder / "intent.yaml").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--config", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        prepare(folder, arguments.config)
        begin = time.monotonic()
        done = subprocess.run([arguments.program.resolve(), "render", "intent.yaml", "-o", "out"], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wall = time.monotonic() - begin
        reports = len(list((folder / "out").glob("*/REPORT.md"))) if (folder / "out").exists() else 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    memory = used.ru_maxrss / 1024
    print(f"{reports} switches, {'imported' if arguments.config else 'declared'}: {wall:.2f} s, "
          f"{used.ru_utime:.2f} s of CPU and {used.ru_stime:.2f} s in the kernel, {memory:.0f} MB")
    if done.returncode != 0 or reports != SWITCHES:
        print(done.stdout[-2000:])
        return 1
    if used.ru_utime > USER_SECONDS_MAX or memory > MEMORY_MB_MAX:
        print(f"more than {USER_SECONDS_MAX} s of CPU or {MEMORY_MB_MAX} MB")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
