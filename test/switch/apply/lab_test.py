#!/usr/bin/env python3
"""Tests scripts/switch-lab against a simulated SONiC switch and a simulated ssh.

usage: lab_test.py FOLDER CONFIG_DB      Exit: 0 if all expectations hold."""

import json
import pathlib
import subprocess
import sys

from simulated_switch import expect
import sonic_apply

LAB = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "switch-lab"


def container(folder, imported):
    """scripts/sonic-vs, with a simulated docker that runs the commands of its one container here."""
    switch = sonic_apply.Switch(folder, {})
    docker = f'''#!/bin/bash
echo "$@" >> {switch.root}/docker.log
case $1 in
  image|run|rm) ;;
  cp) [[ $3 == *:/tmp/site.json ]] && cp "$2" {switch.root}/site.json || cp -r "$2" {switch.root}/remote ;;
  exec) shift 2
    if [ "$1" = sonic-db-cli ] && [ "$3" = KEYS ]; then echo PORT_TABLE:PortInitDone
    elif [ "$1" = sonic-cfggen ] && [ "$2" = -j ]; then cp {switch.root}/site.json {switch.root}/config_db.json
    elif [ "$1" = bash ]; then exec bash -c "${{3//\\/tmp\\/dlcp-lab/{switch.root}/remote}}"
    else exec "$@"; fi ;;
esac
'''
    switch.add_tool("docker", docker)
    config = switch.root / "import.json"
    config.write_text(json.dumps(imported))
    command = [str(LAB.parent / "sonic-vs")]
    environment = switch.environment
    done = subprocess.run([*command, "vs:latest", str(switch.folder), str(config)], text=True, capture_output=True, timeout=900,
                          env=environment)
    expect(done.returncode == 0 and not (switch.root / "docker.log").exists(), "sonic-vs is dry by default", done)
    done = subprocess.run([*command, "--really", "vs:latest", str(switch.folder), str(config)], text=True, capture_output=True,
                          timeout=900, env=environment)
    expect(done.returncode == 0 and done.stdout.count("as it should be") == 6, "sonic-vs runs the lab in a container", done)
    log = (switch.root / "docker.log").read_text().splitlines()
    expect(log[-1].startswith("rm --force dlcp-vs-"), "and removes the container", done)
    environment = {**environment, "PATH": "/nowhere"}
    done = subprocess.run([sys.executable, *command, "--really", "vs:latest", str(switch.folder), str(config)], text=True,
                          capture_output=True, timeout=900, env=environment)
    expect(done.returncode == 77 and "no docker" in done.stdout, "and is skipped without docker", done)
    switch.remove()


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
                              capture_output=True, timeout=900, env=switch.environment)

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
    container(folder, imported)
    print("switch-lab: all expectations hold")


if __name__ == "__main__":
    main()
