"""The tools (`dlcp`, `dlcp-switch`, ...) as commands of the package: this process becomes the tool."""

import os
import sys

from dlcp.installation import tool_path


def _become(name):
    path = tool_path(name)
    os.execv(path, [name, *sys.argv[1:]])


def dlcp():
    _become("dlcp")


def dlcp_aggregator():
    _become("dlcp-aggregator")


def dlcp_hub():
    _become("dlcp-hub")


def dlcp_switch():
    _become("dlcp-switch")
