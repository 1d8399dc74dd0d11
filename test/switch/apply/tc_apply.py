#!/usr/bin/env python3
"""Runs the generated dlcp-qos.sh of a Linux switch against simulations of tc and sysctl.

usage: tc_apply.py DLCP_SWITCH      (vendors/tc/test_tc_guest.py uses a real kernel)

The simulation has these files in $STATE:
  port.PORT   the rows of DLCP's queues; without it, the port has the kernel's own queue
  tbf.PORT    the port has a token bucket above its queue. "works", or "blocks" after its queue was removed and until
              its parameters are set again
  NAME        the value of a kernel setting

Faults, as variables of the environment: GONE: this port does not exist. FAILS: rows of this port are refused, or only
those that contain FAILS_WITH. INTERRUPTS: the script gets SIGINT when it sends rows of this port. DELETE_SENDS: it gets
this signal after a queue was removed. READ_ONLY: this setting cannot be changed. Exit: 0 if all expectations hold."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import simulated_switch
from simulated_switch import expect

INTENT = """fabric: {name: f, base_rtt: 100us, link_speed: 1G}
site:
  dscp_map: {26: 3}
  queues: [{queue: 0, weight: 50}, {queue: 3, weight: 30}]
switches:
  - {name: leaf, os: tc, version: "6.1", asic: software, role: leaf, ports: [{ports: "p[0-1]", role: host, trust: dscp}]}
"""
TC = r"""#!/bin/bash
show() {
  place=root
  if [ "$1" = "${GONE:-}" ]; then return; fi
  if [ -e "$STATE/tbf.$1" ]; then
    place="parent 8001:1"
    echo "qdisc tbf 8001: root refcnt 2 rate 1Gbit burst 125000b limit 1Mb"
  fi
  if [ -e "$STATE/port.$1" ]; then
    echo "qdisc ets d1c0: $place refcnt 2 bands 5"
    cat "$STATE/port.$1"
  elif [ "$place" = root ]; then echo "qdisc noqueue 0: root refcnt 2"; fi
}
if [ "$1" = -r ]; then shift; fi
case "$1 $2" in
  "-force -batch") while read -r a b c port _; do if [ "$a $b $c" = "qdisc show dev" ]; then show "$port"; fi; done ;;
  "-batch -")
    while read -r a b c port rest; do
      if [ "$port" = "${INTERRUPTS:-}" ]; then kill -INT $PPID; fi
      if [[ $port = "${FAILS:-}" && $rest = *"${FAILS_WITH:-}"* ]]; then exit 1; fi
      if [ "$a $b $c" = "qdisc add dev" ]; then echo "qdisc $rest" >>"$STATE/port.$port"; fi
    done ;;
  "qdisc show") show "$4" ;;
  "qdisc change") echo works >"$STATE/tbf.$4" ;;
  "qdisc del")
    rm -f "$STATE/port.$4"
    if [ -e "$STATE/tbf.$4" ]; then echo blocks >"$STATE/tbf.$4"; fi
    if [ -n "${DELETE_SENDS:-}" ]; then kill "-$DELETE_SENDS" $PPID; fi ;;
esac
"""
# The kernel does not have a setting whose file does not exist.
SYSCTL = r"""#!/bin/bash
name=${2%%=*}
if [ ! -e "$STATE/$name" ]; then exit 255; fi
if [ "$1" = -n ]; then cat "$STATE/$name"; exit 0; fi
if [ "$name" = "${READ_ONLY:-}" ]; then exit 255; fi
echo "${2#*=}" >"$STATE/$name"
"""
IPV4, IPV6 = (f"net.{family}.fib_multipath_hash_policy" for family in ("ipv4", "ipv6"))


def render(program, scratch, folder, intent):
    (pathlib.Path(scratch) / "intent.yaml").write_text(intent)
    subprocess.run([program, "render", "intent.yaml", "-o", folder, "--unverified"], cwd=scratch, check=True,
                   stdout=subprocess.DEVNULL)
    return pathlib.Path(scratch) / folder / "leaf"


def replaced_plans(switch, saved, ports):
    """A plan replaces an earlier one on all ports or on none."""
    def queues():
        return [path.read_text() for path in sorted(switch.root.glob("port.*"))]

    switch.run("dlcp-qos.sh", "apply")
    first, records = queues(), {path: path.read_text() for path in saved.iterdir()}
    rate = next(part for part in first[0].split() if part.endswith("bit"))
    for why in ({"FAILS": "p1", "FAILS_WITH": "10000000000bit"}, {"INTERRUPTS": "p0"}, {"INTERRUPTS": "p1"}):
        result = switch.run("faster.sh", "apply", **why)
        expect(result.returncode == 1 and queues() == first, f"{why}: the ports have the earlier queues", result)
        expect({path: path.read_text() for path in saved.iterdir()} == records,
               f"{why}: the records are those of the earlier plan", result)
        expect("interrupted" in result.stderr or "FAILS" in why, "an interruption is named", result)
    result = switch.run("dlcp-qos.sh", "apply")
    expect(result.stdout.count("nothing to do") == 2, f"the earlier plan with {rate} is still applied", result)
    result = switch.run("faster.sh", "apply")
    expect(result.returncode == 0 and queues() != first and rate not in queues()[1], "the plan is replaced", result)
    result = switch.run("faster.sh", "apply", FAILS="p1")
    expect(result.stdout.count("nothing to do") == 2, "a plan that is applied is not built again", result)

    # If the kernel refuses both plans, the port gets the queues that it had without DLCP.
    result = switch.run("dlcp-qos.sh", "apply", FAILS="p1")
    expect(result.returncode == 4 and ports() == ["port.p0"] and "could not be restored" in result.stderr,
           "a port without DLCP's queues is reported", result)
    expect("10000000000bit" in queues()[0] and not (saved / "p1.before").exists(), "the other port is restored", result)

    # Ports that are not in the new plan keep their queues until they are rolled back.
    switch.run("dlcp-qos.sh", "apply")
    result = switch.run("fewer.sh", "apply")
    expect(result.returncode == 0 and "p1: not in this plan" in result.stderr, "p1 keeps its queues", result)
    expect(switch.run("fewer.sh", "apply", "p1").returncode == 2, "this plan cannot be applied to it")
    result = switch.run("fewer.sh", "rollback")
    expect(result.returncode == 0 and not ports() and not saved.exists(),
           "a rollback of all ports restores it, too", result)
    switch.run("dlcp-qos.sh", "apply")
    (switch.root / "port.p1").write_text("qdisc of somebody else\n")
    result = switch.run("fewer.sh", "rollback", "p1")
    expect(result.returncode == 3 and len(ports()) == 2, "a rollback that names the drifted port is refused", result)
    result = switch.run("fewer.sh", "rollback", "p1", GONE="p1")
    expect(result.returncode == 3 and "/p1.{before,after,rows}" in result.stderr,
           "for a lost port, the message names its records", result)
    result = switch.run("fewer.sh", "rollback")
    expect(result.returncode == 0 and ports() == ["port.p1"] and "p1: not in this plan" in result.stderr,
           "a rollback of all ports skips it", result)
    (switch.root / "port.p1").unlink()
    expect(switch.run("fewer.sh", "rollback").returncode == 0 and not saved.exists(), "nothing is left", result)

    # A run that has ended early, as after a power failure, is not reported as drift.
    switch.run("dlcp-qos.sh", "apply")
    (saved / "p0.after").unlink()
    result = switch.run("dlcp-qos.sh", "apply")
    expect(result.returncode == 3 and "rollback p0" in result.stderr, "apply says which rollback is needed", result)
    expect(switch.run("dlcp-qos.sh", "rollback").returncode == 0 and not ports(), "this rollback succeeds")


def shaped_port(switch, ports):
    """If a rollback ends after it has removed the queue below a token bucket, the next one restores the bucket."""
    bucket = switch.root / "tbf.p0"
    bucket.write_text("works\n")
    result = switch.run("dlcp-qos.sh", "apply")
    expect(result.returncode == 0 and "p0: applied (parent 8001:1)" in result.stdout,
           "the queues are below the token bucket", result)
    result = switch.run("dlcp-qos.sh", "rollback", "p0", DELETE_SENDS="KILL")
    expect(result.returncode < 0 and bucket.read_text() == "blocks\n", "the rollback has ended early", result)
    result = switch.run("dlcp-qos.sh", "rollback")
    expect(result.returncode == 0 and not ports() and bucket.read_text() == "works\n",
           "the bucket forwards again", result)
    switch.run("dlcp-qos.sh", "apply")
    result = switch.run("dlcp-qos.sh", "rollback", DELETE_SENDS="INT")
    expect(result.returncode == 0 and not ports() and bucket.read_text() == "works\n",
           "Ctrl-C does not end a rollback", result)
    bucket.unlink()


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        switch = simulated_switch.Switch("tc", render(program, scratch, "out", INTENT),
                                         {"tc": TC, "sysctl": SYSCTL, "id": "#!/bin/sh\necho 0\n"})
        faster = INTENT.replace("link_speed: 1G", "link_speed: 10G")
        for script, intent in (("faster.sh", faster), ("fewer.sh", INTENT.replace("p[0-1]", "p0"))):
            shutil.copy(render(program, scratch, script, intent) / "dlcp-qos.sh", switch.folder / script)
    saved = switch.root / "saved"
    switch.environment["DLCP_SWITCH_STATE"] = str(saved)

    def ports():
        return sorted(path.name for path in switch.root.glob("port.*"))

    def setting(name):
        return (switch.root / name).read_text().strip()

    # The kernel has no IPv6.
    (switch.root / IPV4).write_text("0\n")
    for times in ("first", "second"):
        result = switch.run("dlcp-qos.sh", "apply")
        expect(result.returncode == 0 and ports() == ["port.p0", "port.p1"], f"the {times} apply works", result)
    expect(setting(IPV4) == "1", "the setting is changed")
    result = switch.run("dlcp-qos.sh", "rollback")
    expect(result.returncode == 0 and not ports() and setting(IPV4) == "0", "rollback restores all", result)
    expect(not result.stderr and not (saved / "leaf").exists(), "nothing is left", result)

    # Earlier versions left an empty record for a setting that the kernel does not have.
    (saved / "leaf").mkdir()
    (saved / "leaf" / IPV6).touch()
    result = switch.run("dlcp-qos.sh", "apply")
    expect(result.returncode == 0 and ports() == ["port.p0", "port.p1"], "apply ignores an empty record", result)
    (switch.root / IPV6).write_text("1\n")  # IPv6 was added later
    result = switch.run("dlcp-qos.sh", "rollback")
    expect(result.returncode == 0 and not ports() and setting(IPV6) == "1", "rollback ignores it, too", result)
    expect(not result.stderr and not (saved / "leaf").exists(), "nothing is left", result)

    # A failed run leaves nothing of its own.
    (switch.root / IPV6).write_text("0\n")
    result = switch.run("dlcp-qos.sh", "apply", READ_ONLY=IPV6)
    expect(result.returncode == 1 and not ports() and setting(IPV4) == "0", "a refused setting reverts all", result)
    expect("was changed since" not in result.stderr and not (saved / "leaf").exists(), "nothing is left", result)
    result = switch.run("dlcp-qos.sh", "apply", FAILS="p1")
    expect(result.returncode == 1 and not ports(), "a refused port reverts the others", result)
    expect(not (saved / "leaf").exists(), "nothing is left", result)

    # Apply fails if it cannot record the state, because a rollback would be impossible.
    for record in ("before", "rows", "after"):
        (saved / "leaf" / f"p1.{record}.new").mkdir(parents=True)
        result = switch.run("dlcp-qos.sh", "apply")
        expect(result.returncode == 1 and not ports() and "cannot be written" in result.stderr,
               f"without the record {record!r} apply fails", result)
        shutil.rmtree(saved / "leaf")

    # A failed run keeps settings that ports of an earlier run need.
    result = switch.run("dlcp-qos.sh", "apply", "p0")
    expect(result.returncode == 0 and setting(IPV4) == setting(IPV6) == "1", "one port is applied", result)
    result = switch.run("dlcp-qos.sh", "apply", FAILS="p1")
    expect(result.returncode == 1 and ports() == ["port.p0"] and setting(IPV4) == "1",
           "the other port and the setting stay", result)

    replaced_plans(switch, saved / "leaf", ports)
    shaped_port(switch, ports)
    switch.remove()
    print("dlcp-qos.sh: all expectations hold")


if __name__ == "__main__":
    main()
