"""`dlcp` and `dlcp-switch` as commands of the package: this process becomes the tool."""

import os
import sys

from dlcp.installation import tool_path


def _become(name):
    path = tool_path(name)
    os.execv(path, [name, *sys.argv[1:]])


def dlcp():
    _become("dlcp")


def dlcp_switch():
    _become("dlcp-switch")
