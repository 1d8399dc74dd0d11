"""Licences to lose, for single communicators. The tool alone knows how they are written as numbers."""

import subprocess

from dlcp.installation import tool_path


def traffic_class(budget, *, priority=None, type=None):
    """The trafficClass of a communicator whose gradient sums may lose the share `budget`, 1e-6 to 0.25, end to end.

    0 makes it exact whatever the whole job may lose. `priority` is "learned" (default), "urgent" or "bulk"; `type`
    states the element type, "fp32", "fp16" or "bf16", where NCCL cannot tell it. By a budget the caller states that
    these reductions are sums or averages: docs/bounded-loss.md. ValueError says what is wrong with a value."""
    # The comparison accepts integers of any size, which math.isfinite() does not.
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not abs(budget) <= 1:
        raise ValueError(f"budget is {budget!r}: give a number, 0 (exact) or 1e-6 to 0.25")
    command = [tool_path("dlcp"), "traffic-class", "--budget", format(budget, ".9g")]
    for option, value in (("--priority", priority), ("--type", type)):
        if value is not None:
            command += [option, str(value)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
    if done.returncode != 0:
        raise ValueError((done.stderr or done.stdout).strip() or f"{command[0]} ended with {done.returncode}")
    return int(done.stdout)


def options(budget, *, priority=None, type=None):
    """ProcessGroupNCCL.Options for torch.distributed.new_group(pg_options=...), with that trafficClass.

    Needs PyTorch 2.8 or later, built with NCCL 2.26 or later; RuntimeError says so otherwise."""
    number = traffic_class(budget, priority=priority, type=type)
    import torch.distributed  # pylint: disable=import-outside-toplevel  # optional, and slow to load

    group = getattr(torch.distributed, "ProcessGroupNCCL", None)
    if group is None:
        raise RuntimeError(f"PyTorch {torch.__version__} was built without NCCL: install a CUDA build of it")
    result = group.Options()
    if not hasattr(getattr(result, "config", None), "traffic_class"):
        raise RuntimeError(f"PyTorch {torch.__version__} does not pass trafficClass on to NCCL: use 2.8 or later, or "
                           "license the whole job (DLCP_LOSS_BUDGET and DLCP_LOSS_SCOPE)")
    result.config.traffic_class = number
    return result
