#!/usr/bin/env python3
"""Random combinations of tenants, trimming, watchdogs, levels, speeds, aggregates, trust and releases.

  combinations.py DLCP_SWITCH [--seed N] [--cases N]      prints the seed of a failure; with $DLCP_YANG_DIR it also validates with SONiC's models

Each intent is refused with a message that says what to do, or rendered so that: applying the patches to the import gives
the planned configuration, the rollback restores the import byte for byte, and a render from the planned configuration
changes nothing. Exit: 0 if all expectations hold."""

import argparse
import copy
import importlib.util
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "test/switch/apply"))
from simulated_switch import expect  # noqa: E402

GRADIENTS = ROOT / "test/switch/golden/fabrics/gradients"
RELEASES = json.loads((ROOT / "switch/vendors/sonic/releases.json").read_text())["releases"]
spec = importlib.util.spec_from_file_location("guard", ROOT / "switch/vendors/sonic/guard.py")
guard = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(guard)


def intent_of(dice, config):
    """An intent for one SONiC leaf, and the configuration to import."""
    asic, hwsku = dice.choice([("tomahawk5", "Arista-7060X6-64PE"), ("spectrum4", "Mellanox-SN5600"), ("tomahawk4", "Nokia-IXR7220-H4-64D")])
    config["DEVICE_METADATA"]["localhost"]["hwsku"] = hwsku
    lag = dice.random() < 0.5
    if not lag:
        config.pop("PORTCHANNEL"), config.pop("PORTCHANNEL_MEMBER")
    fast = dice.random() < 0.5
    for port in ("Ethernet0", "Ethernet8"):
        config["PORT"][port]["speed"] = "800000" if fast else "400000"
    if dice.random() < 0.3:
        config["PFC_WD"] = {"Ethernet0": {"action": "drop", "detection_time": "300", "restoration_time": "300"}}
    lines = ["fabric: {name: dice, base_rtt: 12us, link_speed: 400G, incast_degree: %d}" % dice.choice([2, 4, 8])]
    tenants = dice.random() < 0.5
    shares = "shares: {exact: 10%, urgent: 15%, bulk: 10%}, " if tenants else ""
    levels = "level_shares: {bulk: {droppable: 25%, middle: 25%, protected: 50%}}" if dice.random() < 0.5 else "strict_limit: 8%"
    lines.append(f"dlcp: {{{shares}{levels}}}")
    if tenants:
        lines.append("tenants:\n  - {name: b, classes: classes-b.conf, shares: {exact: 5%, urgent: 10%, bulk: 5%}}")
    lines += ["switches:", "  - name: leaf1", "    os: sonic", f'    version: "{dice.choice(RELEASES)}"', f"    asic: {asic}", "    role: leaf",
              "    running_config: import.json"]
    if dice.random() < 0.5:
        lines.append("    trimming: {%s}" % dice.choice(["", "size: 256", "size: 206", "dscp: 40"]))
    if dice.random() < 0.5:
        lines.append("    pfc_watchdog: {detect: %dms}" % dice.choice([100, 400, 6000]))
    if dice.random() < 0.3:
        lines.append("    hash_seed: %d" % dice.choice([10, 77]))
    if dice.random() < 0.3:
        lines.append("    site: {may_take_queues: [1]}")
    trust = dice.choice(["trust: dscp", "trust: remark"])
    cable = dice.choice(["", ", cable: 40m", ", cable: 5m", ", cable: 300m"])
    lines += ["    ports:", f'      - {{ports: "Ethernet[0-8:8]", role: host, {trust}, speed: {"800G" if fast else "400G"}}}',
              '      - {ports: "Ethernet[16-24:8]", role: host, trust: dscp}',
              f'      - {{ports: "Ethernet[32-40:8]", role: fabric{cable}}}',
              '      - {ports: "Ethernet[48-56:8]", role: fabric%s}' % (", lag: PortChannel1" if lag else "")]
    return "\n".join(lines) + "\n", config


def applied(config, patch, rows):
    config = copy.deepcopy(config)
    for (table, key), row in rows.items():
        if row is guard.ABSENT:
            config.get(table, {}).pop(key, None)
        else:
            config.setdefault(table, {})[key] = row
    return {table: rows for table, rows in config.items() if rows or table not in patch.created | patch.removed}


def one_case(program, seed, folder):
    """True: rendered; False: refused."""
    dice = random.Random(seed)
    intent, imported = intent_of(dice, json.loads((GRADIENTS / "running/leaf1.json").read_text()))
    (folder / "intent.yaml").write_text(intent)
    (folder / "import.json").write_text(json.dumps(imported))
    (folder / "classes-b.conf").write_text((GRADIENTS / "classes-b.conf").read_text())

    def run(out):
        return subprocess.run([program, "render", "intent.yaml", "-o", out], cwd=folder, text=True, capture_output=True, check=False, timeout=900)

    done = run("out")
    if done.returncode != 0:
        lines = done.stderr.splitlines()
        errors = [i for i, line in enumerate(lines) if " error: " in line]
        expect(done.returncode == 1 and errors, f"seed {seed}: a refusal with errors", done)
        for i in errors:
            helped = "expected" in lines[i] or any(line.startswith("  hint") for line in lines[i + 1:])
            expect(helped, f"seed {seed}: an error says what to do: {lines[i]}", done)
        return False
    leaf = folder / "out/leaf1"
    patches = [guard.Patch(path) for path in sorted([*leaf.glob("*.json-patch"), *leaf.glob("*.json-direct")])]
    now = imported
    for patch in patches:
        now = applied(now, patch, patch.after)
    planned = json.loads((leaf / "test/config_db.after.json").read_text())
    expect({t: r for t, r in now.items() if r} == {t: r for t, r in planned.items() if r}, f"seed {seed}: the patches give the plan")
    for patch in reversed([guard.Patch(path) for path in sorted([*(leaf / "rollback").glob("*.json-patch"), *(leaf / "rollback").glob("*.json-direct")])]):
        now = applied(now, patch, patch.after)
    expect({t: r for t, r in now.items() if r} == {t: r for t, r in imported.items() if r}, f"seed {seed}: the rollback gives the import")
    (folder / "import.json").write_text(json.dumps(planned))
    done = run("again")
    expect(done.returncode == 0, f"seed {seed}: the planned configuration imports", done)
    again = [path.name for path in (folder / "again/leaf1").glob("*.json-*")]
    expect(not again, f"seed {seed}: twice is once, not {again}")
    if os.environ.get("DLCP_YANG_DIR"):
        done = subprocess.run([ROOT / "scripts/switch-yang", str(leaf / "test/config_db.after.json")], text=True, capture_output=True, check=False)
        older = "this release has no such table" in done.stdout
        expect(done.returncode in (0, 77) or older, f"seed {seed}: valid by SONiC's models", done)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=150)
    arguments = parser.parse_args()
    rendered = 0
    for seed in range(arguments.seed, arguments.seed + arguments.cases):
        with tempfile.TemporaryDirectory() as folder:
            rendered += one_case(str(arguments.program.resolve()), seed, pathlib.Path(folder))
    expect(arguments.cases < 50 or 2 * arguments.cases < 15 * rendered < 15 * arguments.cases, f"some are rendered, some refused: {rendered}")
    print(f"combinations: {arguments.cases} from seed {arguments.seed}, {rendered} rendered, {arguments.cases - rendered} refused")


if __name__ == "__main__":
    main()
