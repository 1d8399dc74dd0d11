"""python -m dlcp run -- COMMAND...    runs a command whose NCCL uses DLCP
python -m dlcp env                     prints the variables as lines for a shell: eval "$(python -m dlcp env)"
python -m dlcp path                    prints where libnccl-net-dlcp.so is

Variables reach what the command starts on this host. On other hosts run it there too (as with torchrun), or let the
launcher pass them on (mpirun -x LD_LIBRARY_PATH -x NCCL_NET_PLUGIN -x NCCL_NET).
Exit: the command's; 2 usage; 126, 127 the command cannot be run, is not there."""

import os
import shlex
import sys

from dlcp.environment import environment
from dlcp.installation import plugin_path

_NAMES = ("LD_LIBRARY_PATH", "NCCL_NET_PLUGIN", "NCCL_NET")


def _run(command):
    command = command[1:] if command[:1] == ["--"] else command
    if not command:
        return _usage("run needs a command, as in: python -m dlcp run -- torchrun train.py")
    variables = environment()
    try:
        os.execvpe(command[0], command, variables)
    except FileNotFoundError:
        print(f"dlcp: {command[0]}: no such command", file=sys.stderr)
        return 127
    except OSError as error:
        print(f"dlcp: {command[0]}: {error.strerror}", file=sys.stderr)
        return 126


def _usage(problem):
    print(f"dlcp: {problem}\n\n{__doc__}", file=sys.stderr)
    return 2


def main(arguments):
    verb, rest = (arguments[0], arguments[1:]) if arguments else (None, [])
    if verb in ("-h", "--help"):
        print(__doc__)
        return 0
    if verb == "run":
        return _run(rest)
    if verb in ("env", "path") and rest:
        return _usage(f"{verb} takes no arguments; seen: {' '.join(rest)}")
    if verb == "env":
        variables = environment()
        for name in _NAMES:
            print(f"export {name}={shlex.quote(variables[name])}")
        return 0
    if verb == "path":
        print(plugin_path())
        return 0
    return _usage(f"no verb '{verb}'; there are run, env and path" if verb else "a verb is needed: run, env or path")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except FileNotFoundError as problem:
        sys.exit(f"dlcp: {problem}")
