"""DLCP for Python jobs: where the plugin is, what NCCL must be told, and who may lose what.

    python -m dlcp run -- torchrun --nproc-per-node 8 train.py

or, in a launcher of one's own, `subprocess.run(command, env=dlcp.environment())`."""

from dlcp.environment import environment
from dlcp.installation import plugin_path
from dlcp.licence import options, traffic_class

__all__ = ["environment", "options", "plugin_path", "traffic_class"]
