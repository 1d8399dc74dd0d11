#!/usr/bin/env python3
"""Renders a fabric of 1,000 switches with 64 ports each and measures it: time and memory must stay within
an acceptable bound. The bound on time applies to the program's own (user) seconds and is wide, because test
machines are busy and their disks are slow; the figures are printed. With a config_db.json, every switch has its own
running configuration; with the folder of fixtures, the fabric has switches of all vendors.

  thousand.py DLCP_SWITCH [--config CONFIG_DB | --mixed FOLDER]

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


# System: its version and ASIC, the fixture, its first port, and the name of port N.
SYSTEMS = {
    "sonic": ("202311", "tomahawk4", "leaf.config_db.json", "Ethernet0", "Ethernet{8n}"),
    "cumulus": ("5.14", "spectrum4", "leaf.yaml", "swp1", "swp{n}"),
    "eos": ("4.30.2F", "tomahawk4", "leaf.eos", "Ethernet1/1", "Ethernet{n}/1"),
    "srlinux": ("24.10", "tomahawk4", "leaf.srl", "ethernet-1/1", "ethernet-1/{n}"),
    "junos": ("24.4R1", "tomahawk4", "leaf.set", "et-0/0/0", "et-0/0/{n}"),
    "nxos": ("10.4(3)", "cloudscale-gx", "leaf.nxos", "Ethernet1/1", "Ethernet1/{n}"),
    "openconfig": ("0.11", "tomahawk4", "leaf.json", "Ethernet1/1", "Ethernet{n}/1"),
    "arcos": ("8.2.1", "tomahawk5", "leaf.json", "swp1", "swp{n}"),
    "iosxr": ("25.3", "silicon-one-g200", "leaf.json", "FourHundredGigE0/0/0/0", "FourHundredGigE0/0/0/{n}"),
}
NAME = r"(?:[Ee]thernet|FourHundredGigE|swp|et-)[\d/-]+"


def ports_of(system):
    name = SYSTEMS[system][4]
    return [name.replace("{8n}", str(8 * n)).replace("{n}", str(n)) for n in range(1, PORTS + 1)]


def wide_tree(node, first, names):
    """JSON in which the list entry of the first port is repeated for each port, without the entries of other ports."""
    if isinstance(node, dict):
        return {key: wide_tree(value, first, names) for key, value in node.items()}
    if not isinstance(node, list):
        return node
    wide = []
    for item in node:
        named = [value for value in item.values() if isinstance(value, str)] if isinstance(item, dict) else []
        if first in named:
            wide += [json.loads(json.dumps(item).replace(f'"{first}"', f'"{name}"')) for name in names]
        elif not any(re.fullmatch(NAME, value) for value in named):
            wide.append(wide_tree(item, first, names))
    return wide


def wide_text(text, first, names):
    """CLI text in which the block of the first port is repeated for each port, without the blocks of other ports."""
    wide = ""
    for part in re.split(r"^(?=\S)", text, flags=re.M):
        head = part.splitlines()[0] if part else ""
        if re.search(rf"(?<!\S){re.escape(first)}(?!\d)", head):
            wide += "".join(part.replace(first, name) for name in names)
        elif not re.search(rf"(?<!\S){NAME}", head):
            wide += part
    return wide


def fixture(system, folder):
    _, _, file, first, _ = SYSTEMS[system]
    text = (folder / system / file).read_text()
    if system == "sonic":
        wide = widened(json.loads(text))
        return json.dumps(wide)
    if system == "cumulus":
        text = re.sub(r"^      swp5-6:\n(?:        .*\n)*", "", text, flags=re.M)
        return text.replace("swp1-6", f"swp1-{PORTS - 1},swp{PORTS}").replace("swp1-4", f"swp1-{PORTS}")
    if file.endswith(".json"):
        return json.dumps(wide_tree(json.loads(text), first, ports_of(system)))
    return wide_text(text, first, ports_of(system))


def prepare_mixed(folder, fixtures):
    (folder / "running").mkdir()
    text = FABRIC + "switches:\n"
    for number in range(SWITCHES):
        system = list(SYSTEMS)[number % len(SYSTEMS)]
        version, asic, _, _, name = SYSTEMS[system]
        (folder / "running" / f"leaf{number}").write_text(fixture(system, fixtures))
        ports = name.replace("{8n}", "[0-504:8]").replace("{n}", f"[1-{PORTS}]")
        text += (f'  - name: leaf{number}\n    os: {system}\n    version: "{version}"\n    asic: {asic}\n'
                 f"    role: leaf\n    running_config: running/leaf{number}\n    ports:\n"
                 f'      - {{ports: "{ports}", role: host, trust: dscp}}\n')
    (folder / "intent.yaml").write_text(text)


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
    parser.add_argument("--mixed", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path, help="only write intent and configurations there")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        folder = arguments.keep or folder
        if arguments.mixed:
            prepare_mixed(folder, arguments.mixed)
        else:
            prepare(folder, arguments.config)
        if arguments.keep:
            return 0
        begin = time.monotonic()
        done = subprocess.run([arguments.program.resolve(), "render", "intent.yaml", "-o", "out", "--unverified"], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        wall = time.monotonic() - begin
        reports = len(list((folder / "out").glob("*/REPORT.md"))) if (folder / "out").exists() else 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    memory = used.ru_maxrss / 1024
    print(f"{reports} switches, {'of all vendors' if arguments.mixed else 'imported' if arguments.config else 'declared'}: {wall:.2f} s, "
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
