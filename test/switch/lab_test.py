#!/usr/bin/env python3
"""scripts/switch-lab against a stand-in of a SONiC switch behind a stand-in of ssh.

usage: lab_test.py FOLDER CONFIG_DB      Exit: 0 if all expectations hold."""

import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import sonic_apply

LAB = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "switch-lab"


def main():
    folder, imported = pathlib.Path(sys.argv[1]), json.loads(pathlib.Path(sys.argv[2]).read_text())
    switch = sonic_apply.Switch(folder, imported)
    remote = switch.root / "remote"
    tools = {"ssh": f'#!/bin/bash\nshift\nexec bash -c "${{*//\\/tmp\\/dlcp-lab/{remote}}}"\n',
             "scp": f'#!/bin/bash\nexec cp -r "$2" {remote}\n'}
    for name, text in tools.items():
        (switch.root / "bin" / name).write_text(text)
        (switch.root / "bin" / name).chmod(0o755)
    environment = {**os.environ, "STATE": str(switch.root), "PATH": f"{switch.root}/bin:{os.environ['PATH']}"}

    def lab(*arguments):
        return subprocess.run([str(LAB), *arguments, "sonic", str(switch.folder), "admin@leaf1"], text=True,
                              capture_output=True, timeout=100, env=environment)

    result = lab()
    sonic_apply.expect(result.returncode == 0 and "nothing was run" in result.stdout, "dry by default", result)
    sonic_apply.expect(not (switch.root / "log").exists(), "and the switch is not touched", result)
    result = lab("--really")
    sonic_apply.expect(result.returncode == 0 and "FAILED" not in result.stdout, "all as it should be", result)
    sonic_apply.expect(result.stdout.count("as it should be") == 6, "six expectations", result)
    sonic_apply.expect(switch.config() == imported, "the switch is as before")
    (switch.folder / "rollback.sh").write_text("exit 0\n")  # a rollback that does nothing
    result = lab("--really")
    sonic_apply.expect(result.returncode == 1 and "FAILED" in result.stdout, "a lab can fail", result)
    print("switch-lab: all expectations hold")


if __name__ == "__main__":
    main()
