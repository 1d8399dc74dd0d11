"""A simulated gnmic, and tests of apply.sh with Sets and Gets that fail.

Faults, as variables of the environment. A Set that contains the text of REFUSE is refused, of HALF is applied in part
and then fails (once), of SWALLOWS is accepted without effect. After each Set, the next UNREADABLE Gets fail.
ADDS_DEFAULTS: the switch adds a leaf to what is set. INTERRUPTS: apply.sh gets SIGINT at the first Set."""

from simulated_switch import expect

GNMIC = r'''#!/usr/bin/env python3
import json, os, pathlib, re, signal, sys
state = pathlib.Path(os.environ["STATE"])
file = state / "config.json"
config = json.loads(file.read_text())

def steps(path):
    for name, keys in re.findall(r"/([^/\[]+)((?:\[[^]]+\])*)", path):
        yield name.split(":")[-1], name, dict(re.findall(r"\[([^=]+)=([^]]+)\]", keys))

def walk(path, make):
    at, last = config, None
    parts = list(steps(path))
    for number, (plain, name, keys) in enumerate(parts):
        name = next((one for one in at if one.split(":")[-1] == plain), name)
        if keys:
            entries = at.setdefault(name, []) if make else at.get(name, [])
            found = next((one for one in entries if all(str(one[key]) == value for key, value in keys.items())), None)
            if found is None:
                if not make:
                    return None
                found = dict(keys)
                entries.append(found)
            last, at = (entries, found, keys), found
        elif number + 1 == len(parts):
            return at, name, None
        else:
            last, at = (at, name, None), at.setdefault(name, {}) if make else at.get(name, {})
    return last

def drop_empty(node):
    for name, value in list(node.items() if isinstance(node, dict) else enumerate(node)):
        if isinstance(value, (dict, list)):
            drop_empty(value)
        is_presence = name in ("match-any", "random-detect-ecn")  # these containers have a meaning even if empty
        if value in ({}, []) and not is_presence and isinstance(node, dict):
            del node[name]

if "get" in sys.argv:
    if (state / "unreadable").exists():
        left = int((state / "unreadable").read_text()) - 1
        (state / "unreadable").write_text(str(left)) if left > 0 else (state / "unreadable").unlink()
        sys.exit("rpc error: code = Unavailable")
    paths = [sys.argv[at + 1].strip("/") for at, word in enumerate(sys.argv) if word == "--path"]
    plain = {name.split(":")[-1]: value for name, value in config.items()}
    print(json.dumps([{"source": "leaf", "updates": [{"Path": path, "values": {path: plain.get(path.split(":")[-1], {})}}
                                                     for path in paths]}]))
    sys.exit(0)
request = pathlib.Path(sys.argv[-1]).read_text()
if os.environ.get("REFUSE", "nothing at all") in request:
    sys.exit("rpc error: code = InvalidArgument")
half = os.environ.get("HALF", "nothing at all") in request and not (state / "half").exists()
is_ignored = os.environ.get("SWALLOWS", "nothing at all") in request
request = json.loads(request)
if half:  # once
    (state / "half").touch()
    request["replaces"] = request["replaces"][:1]
if is_ignored:
    sys.exit(0)
for path in request.get("deletes", []):
    where = walk(path, False)
    if where and isinstance(where[0], list):
        where[0].remove(where[1])
    elif where:
        where[0].pop(where[1], None)
    drop_empty(config)
for one in request.get("replaces", []):
    at, what, keys = walk(one["path"], True)
    if isinstance(at, list):
        what.clear()
        what.update(keys)
        what.update(one["value"])
    else:
        at[what] = one["value"]
    if "ADDS_DEFAULTS" in os.environ and isinstance(at, list):
        what["added-by-the-switch"] = "default"
file.write_text(json.dumps(config))
if "UNREADABLE" in os.environ:  # this many of the next Gets fail
    (state / "unreadable").write_text(os.environ["UNREADABLE"])
if "INTERRUPTS" in os.environ and not (state / "interrupted").exists():  # only the first Set
    (state / "interrupted").touch()
    os.kill(os.getppid(), signal.SIGINT)
sys.exit(4 if half else 0)
'''


def partial_sets(switch, imported, port):
    """A Set is refused, applied in part, or has no effect. It is the one with this port; Sets before it succeed."""
    for how in ("REFUSE", "HALF", "SWALLOWS"):
        result = switch.run("apply.sh", "leaf", **{how: f"={port}]"})
        expect(result.returncode == 4 and "reverted: the switch has its previous" in result.stderr,
               f"{how}: the run is reverted", result)
        expect("20-ports-01-host" in result.stderr and "10-definitions is" not in result.stdout,
               f"{how}: the message names only this patch", result)
        expect(switch.statements() == imported, f"{how}: no Set stays applied", result)
    switch.run("apply.sh", "leaf")
    planned = switch.statements()
    result = switch.run("rollback.sh", "leaf", REFUSE=f"={port}]")
    expect(result.returncode == 4 and "20-ports-01-host is applied" in result.stderr,
           "a partial rollback names the patch that is still applied", result)
    expect(switch.statements() not in (imported, planned), "the other patches are rolled back", result)
    result = switch.run("rollback.sh", "leaf")
    expect(result.returncode == 0 and switch.statements() == imported, "the next run completes it", result)


def unreadable(switch, imported):
    """Gets fail after all Sets were accepted. They are repeated; if they still fail, apply.sh reverts nothing."""
    result = switch.run("apply.sh", "leaf", UNREADABLE="2")
    expect(result.returncode == 0 and switch.statements() != imported, "a Get is repeated twice", result)
    planned = switch.statements()
    switch.run("rollback.sh", "leaf")
    result = switch.run("apply.sh", "leaf", UNREADABLE="3")
    expect(result.returncode == 5 and "cannot be read" in result.stderr,
           "apply.sh reports that the state is unknown", result)
    expect(switch.statements() == planned, "the change stays, because it may be as planned", result)
    result = switch.run("apply.sh", "leaf")
    expect(result.returncode == 0 and "nothing to do" in result.stdout, "the next run finds the planned state", result)
    switch.run("rollback.sh", "leaf")
    expect(switch.statements() == imported, "rollback restores the import")


def defaults(switch, imported):
    """The switch adds leaves with default values to what was set."""
    result = switch.run("apply.sh", "leaf", ADDS_DEFAULTS="yes")
    expect(result.returncode == 0 and "added-by-the-switch" in result.stderr, "added leaves cause a warning", result)
    result = switch.run("apply.sh", "leaf")
    expect(result.returncode == 0 and "nothing to do" in result.stdout,
           "a second apply does not report them as drift", result)
    result = switch.run("rollback.sh", "leaf")
    expect(result.returncode == 0 and switch.statements() == imported, "the rollback removes them", result)
    expect(not list((switch.folder / "applied").glob("*.txt")), "the rollback deletes the saved configuration")


def interrupted(switch, imported):
    result = switch.run("apply.sh", "leaf", INTERRUPTS="yes")
    expect(result.returncode == 4 and "interrupted" in result.stderr, "an interruption is reported", result)
    expect(switch.statements() == imported, "the Sets before it are reverted", result)


def gnmi_faults(switch, imported, port):
    switch.add_tool("sleep", "#!/bin/sh\n")
    partial_sets(switch, imported, port)
    unreadable(switch, imported)
    defaults(switch, imported)
    interrupted(switch, imported)
