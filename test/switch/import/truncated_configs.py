#!/usr/bin/env python3
"""Truncated running configurations, such as an incomplete paste or a copy of a file that is being written: each is refused,
causes a warning, or gives the same output as the complete one.

usage: truncated_configs.py DLCP_SWITCH [--cuts N]

Every sample is cut at N positions at equal distances, and at N line ends. Other results are counted and printed: there must
be none if the syntax shows every truncation, and otherwise only at line ends."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SWITCH = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(SWITCH / "apply"))
from simulated_switch import expect  # noqa: E402

DATA = SWITCH / "data"
TC = """qdisc noqueue 0: dev lo root refcnt 2
qdisc mq 0: dev eth0 root
qdisc pfifo_fast 0: dev eth0 parent :1 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
qdisc tbf 8001: dev eth1 root refcnt 2 rate 10Gbit burst 125000b lat 1ms
qdisc ets 1: dev eth2 root refcnt 2 bands 3 quanta 1514 1514 1514 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2
"""
# System: its sample, version, ASIC, ports, and whether the end of its syntax shows every truncation.
SAMPLES = {
    "sonic": ("leaf.config_db.json", "202311", "tomahawk4", ("Ethernet0", "Ethernet40"), True),
    "cumulus": ("leaf.yaml", "5.14", "spectrum4", ("swp1", "swp5"), False),
    "eos": ("leaf.eos", "4.30.2F", "tomahawk4", ("Ethernet1/1", "Ethernet31/1"), True),
    "srlinux": ("leaf.srl", "24.10", "tomahawk4", ("ethernet-1/1", "ethernet-1/31"), False),
    "junos": ("leaf.set", "24.4R1", "tomahawk4", ("et-0/0/0", "et-0/0/31"), False),
    "nxos": ("leaf.nxos", "10.4(3)", "cloudscale-gx", ("Ethernet1/1", "Ethernet1/49"), False),
    "openconfig": ("leaf.json", "0.11", "tomahawk4", ("Ethernet1/1", "Ethernet31/1"), True),
    "arcos": ("leaf.json", "8.2.1", "tomahawk5", ("swp1", "swp31"), True),
    "iosxr": ("leaf.json", "25.3", "silicon-one-g200", ("FourHundredGigE0/0/0/0", "FourHundredGigE0/0/0/30"), True),
    "tc": (None, "6.1", "software", ("eth0", "eth1"), False),
}


class Sample:
    def __init__(self, program, system, folder):
        file, version, asic, ports, self.shows_all = SAMPLES[system]
        self.program, self.system, self.folder = program, system, folder
        self.text = TC if file is None else (DATA / system / file).read_text()
        (folder / "intent.yaml").write_text(
            f"fabric: {{name: f, base_rtt: 12us, link_speed: 400G}}\nswitches:\n  - name: leaf1\n    os: {system}\n"
            f"    version: \"{version}\"\n    asic: {asic}\n    role: leaf\n    running_config: running\n    ports:\n"
            f"      - {{ports: [{', '.join(ports)}], role: host, trust: dscp}}\n")
        self.whole = self.rendered(self.text)
        expect(self.whole[0] == "fine", f"{system}: the whole sample is imported without a doubt", self.whole)

    def run(self, *words):
        return subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, timeout=900)

    def rendered(self, text):
        """"refused", or the verdict on the end of the text and all files of the change."""
        (self.folder / "running").write_text(text)
        done = self.run("render", "intent.yaml", "-o", "out", "--unverified", "--json")
        if done.returncode == 1:
            return "refused", {}
        expect(done.returncode == 0, f"{self.system}: rendered or refused", done)
        files = {str(path.relative_to(self.folder)): path.read_bytes() for path in (self.folder / "out/leaf1").rglob("*")
                 if path.is_file() and path.name != "REPORT.md"}
        return "warned" if "may be truncated" in done.stdout + done.stderr else "fine", files

    def verdict(self, cut):
        said, files = self.rendered(self.text[:cut])
        if said != "fine":
            return said
        return "the same" if files == self.whole[1] else "silent"


def cuts_of(text, count):
    """Positions at equal distances in the text, and line ends at equal distances."""
    ends = [at + 1 for at, char in enumerate(text[:-1]) if char == "\n"]
    evenly = lambda all_: {all_[i * len(all_) // count] for i in range(min(count, len(all_)))}
    return sorted(evenly(range(1, len(text))) | (evenly(ends) if ends else set()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--cuts", type=int, default=15)
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    for system in SAMPLES:
        with tempfile.TemporaryDirectory() as scratch:
            sample = Sample(program, system, pathlib.Path(scratch))
            verdicts = {cut: sample.verdict(cut) for cut in cuts_of(sample.text, arguments.cuts)}
        count = {name: sum(one == name for one in verdicts.values()) for name in ("refused", "warned", "the same", "silent")}
        print(f"{system}: {len(verdicts)} cuts, " + ", ".join(f"{number} {name}" for name, number in count.items()))
        silent = [cut for cut, one in verdicts.items() if one == "silent"]
        inside = [cut for cut in silent if sample.shows_all or sample.text[cut - 1] != "\n"]
        expect(not inside, f"{system}: cut at byte {inside[:3]} without a word: ...{sample.text[max(0, (inside or [1])[0] - 60):(inside or [1])[0]]!r}")
        for cut in silent[:3]:
            print(f"  without a word: ...{sample.text[max(0, cut - 70):cut]!r}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
