#!/usr/bin/env python3
"""persist.py against a stand-in of a SONiC switch: into golden_config_db.json and back, byte for byte.

usage: sonic_persist.py FOLDER CONFIG_DB      Exit: 0 if all expectations hold."""

import json
import pathlib
import subprocess
import sys

import sonic_apply
from stand_in import expect


def overridden(config, golden):
    """What `config load_minigraph --override_config` makes of both: a table of the golden file takes the place."""
    return {**config, **golden}


def main():
    folder, imported = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    planned = json.loads((folder / "test" / "config_db.after.json").read_text())
    switch = sonic_apply.Switch(folder, imported)
    golden = switch.root / "golden_config_db.json"

    def persist(verb):
        return subprocess.run([sys.executable, str(switch.folder / "persist.py"), verb, "--golden", str(golden)], text=True,
                              capture_output=True, timeout=900, env=switch.environment)

    result = persist("add")
    expect(result.returncode == 3 and "apply.sh first" in result.stderr and not golden.exists(), "nothing before apply.sh", result)
    expect(switch.run("apply.sh").returncode == 0, "apply.sh")
    before = {"NTP_SERVER": {"10.1.1.1": {}}, "QUEUE": {"Ethernet999|0": {"scheduler": "best-effort"}}}
    text = json.dumps(before, indent=2) + "\n"
    golden.write_text(text)
    result = persist("add")
    expect(result.returncode == 0, "add", result)
    content = json.loads(golden.read_text())
    expect(content["NTP_SERVER"] == before["NTP_SERVER"], "tables of others stay")
    expect("Ethernet999|0" in content["QUEUE"], "and so do the golden file's own rows")
    minigraph = {**imported, "QUEUE": {}, "PORT_QOS_MAP": {}}  # what a template rendered anew
    after = overridden(minigraph, content)
    expect(all(after[table].get(key) == row for table, rows in planned.items() if table not in before or table == "QUEUE"
               for key, row in rows.items()), "a reload leaves the plan")
    result = persist("add")
    expect(result.returncode == 0 and "nothing to do" in result.stdout, "twice is once", result)
    result = persist("remove")
    expect(result.returncode == 0 and json.loads(golden.read_text()) == before, "remove gives it back", result)
    expect("nothing to do" in persist("remove").stdout, "and twice is once")

    golden.unlink()
    expect(persist("add").returncode == 0 and golden.exists(), "without a golden file")
    changed = json.loads(golden.read_text())
    changed["QUEUE"]["Ethernet0|0"] = {"scheduler": "another"}
    golden.write_text(json.dumps(changed))
    result = persist("remove")
    expect(result.returncode == 3 and "QUEUE" in result.stderr, "remove refuses what has changed", result)
    changed["QUEUE"]["Ethernet0|0"] = planned["QUEUE"]["Ethernet0|0"]
    golden.write_text(json.dumps(changed))
    expect(persist("remove").returncode == 0 and not golden.exists(), "and takes its own file away")

    for broken in ("{", "[]", '{"asic0": {"QUEUE": []}, "x": 7}'):
        golden.write_text(broken)
        result = persist("add")
        expect(result.returncode == 3 and golden.read_text() == broken, f"refuses {broken}", result)
    switch.remove()
    print("persist.py: all expectations hold")


if __name__ == "__main__":
    main()
