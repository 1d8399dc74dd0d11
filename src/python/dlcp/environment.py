"""The variables that NCCL must find in the environment of every rank."""

import os

from dlcp.installation import plugin_path


def environment(base=None):
    """A copy of `base` (default: os.environ) in which NCCL uses DLCP, for the processes that a caller starts.

    The loader reads LD_LIBRARY_PATH when a process starts: to change os.environ of a running one is not enough
    for NCCL before 2.21, which finds plugins by name alone."""
    result = dict(os.environ if base is None else base)
    folder = os.path.dirname(plugin_path())
    # Names that are empty would mean the current folder to the loader.
    others = [part for part in result.get("LD_LIBRARY_PATH", "").split(":") if part and part != folder]
    result["LD_LIBRARY_PATH"] = ":".join([folder, *others])
    result["NCCL_NET_PLUGIN"] = "dlcp"
    # A rank whose plugin cannot start would otherwise take another network, and the job would hang.
    result["NCCL_NET"] = "DLCP"
    return result
