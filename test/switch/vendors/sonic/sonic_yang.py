#!/usr/bin/env python3
"""Checks that SONiC's YANG models accept rendered output, and reject it after one value was corrupted.

usage: sonic_yang.py CONFIG_DB...       exit 77: skipped, with the reason (no models, no yanglint)

The models detect every one of these mutations. Faults that only a semantic check detects (PFC on a queue
of DLCP, a queue that does not exist) are tested with dlcp-switch check."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

SWITCH_YANG = pathlib.Path(__file__).resolve().parents[4] / "scripts" / "switch-yang"


def first(rows, prefix="DLCP-"):
    return next(key for key in rows if key.startswith(prefix))


def put(table, field, value, prefix="DLCP-"):
    def mutate(config):
        config[table][first(config[table], prefix)][field] = value
    mutate.__name__ = f"{table} {field}={value}"
    return mutate


def drop(table, prefix="DLCP-"):
    def mutate(config):
        del config[table][first(config[table], prefix)]
    mutate.__name__ = f"{table} row removed"
    return mutate


def shaper(config):
    row = config["SCHEDULER"][first(config["SCHEDULER"], "DLCP-control")]
    row["cir"] = str(int(row["pir"]) + 1)


MUTATIONS = [
    put("WRED_PROFILE", "green_max_threshold", "1"),
    put("WRED_PROFILE", "green_drop_probability", "101"),
    put("WRED_PROFILE", "ecn", "ecn_everything"),
    put("WRED_PROFILE", "wred_green_enable", "yes"),
    put("WRED_PROFILE", "purple_min_threshold", "1"),
    put("SCHEDULER", "weight", "0"),
    put("SCHEDULER", "weight", "101"),
    put("SCHEDULER", "type", "FIFO"),
    put("DSCP_TO_TC_MAP", "64", "0"),
    put("DSCP_TO_TC_MAP", "40", "16"),
    put("PORT_QOS_MAP", "dscp_to_tc_map", "GONE", "Ethernet"),
    put("QUEUE", "wred_profile", "GONE", "Ethernet"),
    put("QUEUE", "profile", "DLCP-bulk", "Ethernet"),
    drop("WRED_PROFILE"),
    drop("SCHEDULER"),
    drop("DSCP_TO_TC_MAP"),
    shaper,
]


def check(paths):
    return subprocess.run([str(SWITCH_YANG), *map(str, paths)], capture_output=True, text=True, timeout=900)


def main(paths):
    result = check(paths)
    print(result.stdout, end="")
    if result.returncode != 0:
        return result.returncode
    config = json.loads(paths[-1].read_text())
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, mutate in enumerate(MUTATIONS):
            broken = copy.deepcopy(config)
            mutate(broken)
            files.append(pathlib.Path(folder) / f"{number:02}.json")
            files[-1].write_text(json.dumps(broken))
        lines = [line for line in check(files).stdout.splitlines() if line.startswith(folder)]
    accepted = [m.__name__ for m, line in zip(MUTATIONS, lines, strict=True) if line.endswith(": valid")]
    for name in accepted:
        print(f"FAILED: the models accept: {name}")
    print(f"{len(MUTATIONS) - len(accepted)} of {len(MUTATIONS)} mutations rejected")
    return 1 if accepted else 0


if __name__ == "__main__":
    sys.exit(main([pathlib.Path(path) for path in sys.argv[1:]]))
