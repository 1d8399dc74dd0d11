#!/usr/bin/env python3
"""Checks every SONiC change of the golden files against the rules of SONiC's configuration updater.

usage: sonic_updater.py GOLDEN_FABRICS

The updater compares the configuration before and after a patch and checks every difference against
the rules of its release (switch/vendors/sonic/releases.json). The release that a patch was rendered for
must accept every patch that apply.sh passes to the updater, and every rollback. It must refuse the rows
that bypass the updater (otherwise they would not need to). Exit: 0 if all expectations hold."""

import copy
import importlib.util
import json
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "test/switch"))
import bundle  # noqa: E402

RELEASES = json.loads((ROOT / "switch/vendors/sonic/releases.json").read_text())
spec = importlib.util.spec_from_file_location("guard", ROOT / "switch/vendors/sonic/guard.py")
guard = importlib.util.module_from_spec(spec)
spec.loader.exec_module(guard)


def rules_of(release):
    found = {}
    for entry in RELEASES["updater"]:
        if entry["since"] <= release:
            found = entry
    return found


def differences(before, after, path=()):
    """The (operation, path, value) triples of a JSON patch between the two."""
    for key in sorted(before.keys() | after.keys()):
        where = (*path, key)
        if key not in after:
            yield "remove", where, None
        elif key not in before:
            yield "add", where, after[key]
        elif isinstance(before[key], dict) and isinstance(after[key], dict):
            yield from differences(before[key], after[key], where)
        elif before[key] != after[key]:
            yield "replace", where, after[key]


def fields_of(path, value, match):
    """The fields that a difference affects, in the spelling of the release's rules."""
    parts = [part for part in path[1:] if match != "path" or not re.search(r"\d", part)]
    stem = "/".join(parts).lower()
    names = [f"{stem}/{key}" if stem else key for key in value] if isinstance(value, dict) else [stem]
    return names if match == "path" else [name.split("/")[-1] for name in names]


def passes(rules, asic, operation, path, value):
    table = rules.get("tables", {}).get(path[0])
    if table is None or (len(path) == 2 and operation in table["rows"]):
        return True
    names = fields_of(path, value, table["match"])
    return asic in rules["asics"] and all(operation in table["fields"].get(name, []) for name in names)


def refused(release, asic, before, after):
    return [(operation, "/".join(path)) for operation, path, value in differences(before, after)
            if not passes(rules_of(release), asic, operation, path, value)]


def applied(config, patch):
    """The configuration after a patch's rows; SONiC keeps no empty table."""
    config = copy.deepcopy(config)
    for (table, key), row in patch.after.items():
        if row is guard.ABSENT:
            config[table].pop(key)
        else:
            config.setdefault(table, {})[key] = row
    return {table: rows for table, rows in config.items() if rows}


def before_of(patches):
    """The rows that the patches need: a partial configuration to which they can be applied."""
    config = {}
    for patch in reversed(patches):
        for (table, key), row in patch.before.items():
            config.setdefault(table, {}).pop(key, None)
            if row is not guard.ABSENT:
                config[table][key] = row
    return {table: rows for table, rows in config.items() if rows}


def check(folder, release, asic, names):
    """Processes a folder's patches in order; returns the number of differences that were checked against rules."""
    patches = [(name, guard.Patch(name)) for name in names]
    first = folder if folder.name != "rollback" else folder.parent
    config = before_of([patch for _, patch in patches])
    # Tables with other rows of the site exist before the change, and are kept.
    for _, patch in patches:
        for table, _ in patch.before:
            if table not in patch.created | patch.removed:
                config.setdefault(table, {"site": {"of": "the site"}}).setdefault("site", {"of": "the site"})
    for name, patch in patches:
        after = applied(config, patch)
        found = refused(release, asic, config, after)
        if name.suffix == ".json-patch":
            assert not found, f"{first.name}/{name.name}: {release} refuses {found[:3]}"
        else:
            # A watchdog table may be removed as a whole but not added: rows that bypassed the updater are also removed that way.
            came_around = folder.name == "rollback" and {table for table, _ in patch.before} == {"PFC_WD"}
            assert found or came_around, f"{first.name}/{name.name}: {release} would take it, so it need not go around"
        config = after
    return len(patches)


def switches(fabric):
    """(name, version, asic) of the fabric's SONiC switches; intents of the goldens are flat enough."""
    for entry in re.split(r"\n  - name: ", (fabric / "intent.yaml").read_text())[1:]:
        if "os: sonic" in entry:
            yield (entry.split("\n")[0], re.search(r'version: "?(\w+)', entry)[1], re.search(r"asic: (\w+)", entry)[1])


def main():
    # The rules themselves: facts about real releases.
    row = {"WRED_PROFILE": {"DLCP-bulk": {"ecn": "ecn_all", "green_min_threshold": "1"}}}
    for release in RELEASES["releases"]:
        taken = not refused(release, "tomahawk4", {"WRED_PROFILE": {"x": {}}}, {**row, "WRED_PROFILE": {"x": {}, **row["WRED_PROFILE"]}})
        assert taken == (release >= "202511"), release
    assert refused("202311", "trident3", {"BUFFER_PROFILE": {"p": {"dynamic_th": "1"}}},
                   {"BUFFER_PROFILE": {"p": {"dynamic_th": "2"}}}), "p is part of the field's name there"
    assert not refused("202311", "trident3", {"BUFFER_PROFILE": {"p1": {"dynamic_th": "1"}}},
                       {"BUFFER_PROFILE": {"p1": {"dynamic_th": "2"}}})
    # Watchdog rows are accepted by their fields: on ASICs that the release lists, unless the table would be new.
    watchdog = {"action": "drop", "detection_time": "200", "restoration_time": "200"}
    there, rows = {"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}}}, {"Ethernet0": watchdog}
    for release in RELEASES["releases"]:
        for asic, since in (("tomahawk2", "202205"), ("tomahawk4", "202405"), ("trident4", "202505"), ("generic", "999999")):
            with_rows = {"PFC_WD": {**there["PFC_WD"], **rows}}
            for before, after in ((there, with_rows), (with_rows, there)):
                assert bool(refused(release, asic, before, after)) == (release < since), (release, asic)
        assert refused(release, "tomahawk2", {}, {"PFC_WD": rows}), release
    walked = 0
    for fabric in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        for name, version, asic in switches(fabric):
            with tempfile.TemporaryDirectory() as scratch:
                folder = pathlib.Path(scratch) / name
                bundle.unpack(fabric / "expected" / f"{name}.txt", folder)
                forward = sorted([*folder.glob("*.json-patch"), *folder.glob("*.json-direct")])
                back = sorted((folder / "rollback").glob("*.json-*"), reverse=True)
                assert forward and len(forward) == len(back), folder
                walked += check(folder, version, asic, forward) + check(folder / "rollback", version, asic, back)
    assert walked > 20, walked
    print(f"{walked} patches pass their release's updater, or go around it with reason")


if __name__ == "__main__":
    main()
