#!/usr/bin/env python3
"""scripts/switch-lab against a stand-in of a SONiC switch behind a stand-in of ssh.

usage: lab_test.py FOLDER CONFIG_DB      Exit: 0 if all expectations hold."""

import json
import pathlib
import subprocess
import sys

from stand_in import expect
import sonic_apply

LAB = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "switch-lab"


def main():
    folder, imported = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    switch = sonic_apply.Switch(folder, imported)
    remote = switch.root / "remote"
    tools = {"ssh": f'#!/bin/bash\nshift\nexec bash -c "${{*//\\/tmp\\/dlcp-lab/{remote}}}"\n',
             "scp": f'#!/bin/bash\nexec cp -r "$2" {remote}\n'}
    for name, text in tools.items():
        switch.add_tool(name, text)

    def lab(*arguments):
        return subprocess.run([str(LAB), *arguments, "sonic", str(switch.folder), "admin@leaf1"], text=True,
                              capture_output=True, timeout=100, env=switch.environment)

    result = lab()
    expect(result.returncode == 0 and "nothing was run" in result.stdout, "dry by default", result)
    expect(not (switch.root / "log").exists(), "and the switch is not touched", result)
    result = lab("--really")
    expect(result.returncode == 0 and "FAILED" not in result.stdout, "all as it should be", result)
    expect(result.stdout.count("as it should be") == 6, "six expectations", result)
    expect(switch.config() == imported, "the switch is as before")
    (switch.folder / "rollback.sh").write_text("exit 0\n")  # a rollback that does nothing
    result = lab("--really")
    expect(result.returncode == 1 and "FAILED" in result.stdout, "a lab can fail", result)
    switch.remove()
    print("switch-lab: all expectations hold")


if __name__ == "__main__":
    main()
