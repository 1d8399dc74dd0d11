#!/usr/bin/env python3
"""Checks that the YANG models of each SONiC release accept the output for that release, and reject it after one value was
corrupted.

usage: sonic_releases.py DLCP_SWITCH CONFIG_DB      exit 77: skipped, with the reason

$DLCP_YANG_RELEASES is a folder with a folder of models for each release (202205, ..., master), as scripts/switch-yang takes
one: src/sonic-yang-models of that branch of sonic-net/sonic-buildimage."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import sonic_yang

# Parts of the sample that older models lack. They belong to the site, so a switch of such a release does not have them.
LATER_FIELDS = {"202205": [("DEVICE_METADATA", "localhost", "yang_config_validation"), ("SWITCH_HASH", "GLOBAL", None)],
                "202211": [("SWITCH_HASH", "GLOBAL", None)]}
INTENT = """fabric: {name: f, base_rtt: 12us, link_speed: 400G}
switches:
  - name: leaf1
    os: sonic
    version: "%s"
    asic: tomahawk4
    role: leaf
    running_config: running.json
    ports:
      - {ports: "Ethernet[0-8:8]", role: host, trust: dscp}
      - {ports: "Ethernet[32-40:8]", role: fabric}
"""


def without_later(config, release):
    for table, row, field in LATER_FIELDS.get(release, []):
        if field is None:
            config.pop(table, None)
        else:
            config[table][row].pop(field, None)
    return config


def rendered(program, config, release, folder):
    (folder / "running.json").write_text(json.dumps(without_later(config, release), indent=1))
    (folder / "intent.yaml").write_text(INTENT % release)
    subprocess.run([program, "render", "intent.yaml", "-o", "out"], cwd=folder, check=True, capture_output=True, timeout=900)
    return folder / "out" / "leaf1" / "test" / "config_db.after.json"


def main():
    program, sample = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    models = os.environ.get("DLCP_YANG_RELEASES")
    if not models or not pathlib.Path(models).is_dir():
        print("skipped: DLCP_YANG_RELEASES names no folder of SONiC's YANG models by release")
        return 77
    known = next(row for row in json.loads(subprocess.run([program, "targets", "--json"], capture_output=True, text=True,
                                                          check=True).stdout)["systems"] if row["os"] == "sonic")
    failed = []
    for release in known["releases"]:
        folder = pathlib.Path(models) / release
        if not folder.is_dir():
            print(f"{release}: no models in {folder}")
            failed.append(release)
            continue
        with tempfile.TemporaryDirectory() as scratch:
            after = rendered(program, json.loads(sample.read_text()), release, pathlib.Path(scratch))
            os.environ["DLCP_YANG_DIR"] = str(folder)
            code = sonic_yang.main([after])
        if code == 77:
            return 77
        print(f"{release}: {'valid' if code == 0 else 'NOT VALID'}")
        failed += [release] if code != 0 else []
    return 1 if failed else 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
