"""Shared parts of the tests of shipped scripts: a folder that simulates a switch, and expectations."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True


class Switch:
    """A copy of a generated folder, with simulated commands of the switch first in PATH, and a state folder
    that they find in $STATE. Scripts start Python hundreds of times: without what this machine adds to each start (a
    version manager, "site"), unless they need packages."""

    def __init__(self, name, folder, tools, packages=False):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix=f"dlcp-{name}-"))
        self.folder = self.root / "leaf"
        shutil.copytree(folder, self.folder)
        (self.root / "bin").mkdir()
        self.add_tool("python3", f'#!/bin/sh\nexec "{sys.executable}" {"" if packages else "-ES"} "$@"\n')
        for tool, text in tools.items():
            self.add_tool(tool, text)
        self.environment = {**os.environ, "STATE": str(self.root), "PATH": f"{self.root}/bin:{os.environ['PATH']}"}

    def add_tool(self, name, text):
        path = self.root / "bin" / name
        path.write_text(text)
        path.chmod(0o755)

    def run(self, script, *arguments, **extra):
        return subprocess.run(["bash", str(self.folder / script), *arguments], capture_output=True, text=True,
                              timeout=900, env={**self.environment, **extra})

    def remove(self):
        shutil.rmtree(self.root)


def expect(condition, what, result=None):
    if condition:
        return
    print(f"FAILED: {what}")
    if result is not None:
        print(f"exit {result.returncode}\n{result.stdout}{result.stderr}")
    sys.exit(1)


def expect_nothing_to_do(switch, script, *arguments):
    result = switch.run(script, *arguments)
    expect(result.returncode == 0 and "nothing to do" in result.stdout, f"{script} a second time", result)
