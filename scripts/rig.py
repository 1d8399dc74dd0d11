"""Shared parts of scripts/bench, scripts/demo and the tests: the build folder, networks of namespaces, and running
`dlcp bench` with a higher priority than this machine's other users. Standard library only."""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETNS = ROOT / "scripts" / "netns"
GUEST = ROOT / "test" / "rig" / "guest"
BENCH_TARGETS = ("dlcp", "nccl-net-dlcp", "reference_tcp", "bench_peers", "path_relay")


def end_cleanly(number, _):
    """Ends the program after networks, kernel settings and child processes are removed."""
    signal.signal(number, signal.SIG_IGN)
    # unittest takes SystemExit for an error of one test, which cleans up; that test is now the last one.
    for result in unittest.signals._results:
        result.failfast = True
    sys.exit(128 + number)


for ending in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(ending) != signal.SIG_IGN:  # nohup ignores SIGHUP
        signal.signal(ending, end_cleanly)


@dataclasses.dataclass(frozen=True)
class Build:
    """The programs of one build folder. `tool` is the program that has the verb `bench`."""
    folder: pathlib.Path
    tool: str = "dlcp"

    @property
    def dlcp(self):
        return self.folder / "bin" / self.tool

    @property
    def plugin(self):
        return self.folder / "lib" / "libnccl-net-dlcp.so"

    @property
    def tcp(self):
        return self.folder / "lib" / "libnccl-net-reftcp.so"

    @property
    def relay(self):
        return self.folder / "bin" / "path_relay"

    def missing(self):
        """A text that names what this folder lacks for a benchmark, or None."""
        absent = [str(p.relative_to(self.folder)) for p in (self.dlcp, self.plugin, self.tcp) if not p.exists()]
        return f"{self.folder} has no {', '.join(absent)}; build it, or name a folder with --build" if absent else None


def make_build(folder, targets=BENCH_TARGETS):
    """Configures the release preset there and builds `targets`, by default those of a benchmark; prints the output of
    the build only on failure."""
    print(f"building in {folder} (a few minutes the first time)", file=sys.stderr, flush=True)
    for command in (["cmake", "--preset", "release", "-B", str(folder)],
                    ["cmake", "--build", str(folder), "--target", *targets]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}\n{' '.join(command)} failed")
    return Build(pathlib.Path(folder))


def output_file(text):
    """For argparse: the path of a file to write, refused before the measurement if its folder cannot be written."""
    path = pathlib.Path(text)
    if not os.access(path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"'{path.parent}' is not a folder in which this user may write")
    return path


def run_netns(*arguments):
    """Runs scripts/netns, always to its end and out of Ctrl-C's reach: what it builds is then complete or removed."""
    process = subprocess.Popen([NETNS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    try:
        output, errors = process.communicate()
    except BaseException:
        process.communicate()
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def permitted():
    """None if networks of namespaces can be built here, else the reason."""
    done = run_netns("check")
    if done.returncode == 0:
        return None
    return done.stderr.strip().splitlines()[-1].removeprefix("netns: ").split(". Run:")[0]


def skip(reason):
    """Ends a test that this machine cannot run: skipped (77), but failed where CI must run everything (CI=true)."""
    if os.environ.get("CI") == "true":
        print(f"failed: CI runs every test, but here: {reason}")
        sys.exit(1)
    print(f"skipped: {reason}")
    sys.exit(77)


def skip_without_networks():
    """Ends a test that needs a network if none can be built."""
    reason = permitted()
    if reason:
        skip(reason)


def build_for_test():
    """The build named by a test's first argument; ends the test if no network can be built."""
    build = Build(pathlib.Path(sys.argv.pop(1)).resolve())
    skip_without_networks()
    return build


class Network:
    """One network of namespaces, built on entry and always removed on exit."""

    def __init__(self, prefix, hosts, *settings):
        self.prefix, self.hosts, self.settings = prefix, hosts, settings

    def __enter__(self):
        netns("down", self.prefix)
        try:
            netns("up", self.prefix, str(self.hosts), *self.settings)
        except BaseException:
            netns("down", self.prefix)  # it may be incomplete
            raise
        return self

    def __exit__(self, *_):
        netns("down", self.prefix)

    def set(self, *settings):
        netns("set", self.prefix, *settings)


class Unavailable(RuntimeError, unittest.SkipTest):
    """This machine lacks a feature that a network needs; a test is then skipped with the reason."""


def netns(*arguments):
    """The output of scripts/netns."""
    done = run_netns(*arguments)
    if done.returncode == 0:
        return done.stdout
    # In CI nothing may be missing.
    kind = Unavailable if done.returncode == 3 and os.environ.get("CI") != "true" else RuntimeError
    raise kind(f"netns {' '.join(arguments)}: {done.stderr.strip()}")


class RelayedPath:
    """Two namespaces with test/rig/traffic/path_relay between them: a path with any delay, jitter, loss and rate,
    built on entry and removed on exit. `report` is the relay's report at the end, or None."""

    def __init__(self, build, prefix, *settings):
        self.relay, self.prefix, self.settings = build.relay, prefix, settings
        self.process = self.report = None

    def __enter__(self):
        self.remove()
        try:
            for host in (f"{self.prefix}0", f"{self.prefix}1"):
                ip("netns", "add", host)
                ip("-n", host, "link", "set", "lo", "up")
            self.process = subprocess.Popen([str(self.relay), self.prefix, *self.settings], text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                            start_new_session=True, preexec_fn=run_first)
            if self.process.stdout.readline().strip() != "ready":
                raise RuntimeError(self.process.communicate()[1].strip())
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        if self.process:
            self.process.terminate()
            output, _ = self.process.communicate()
            with contextlib.suppress(json.JSONDecodeError):
                self.report = json.loads(output)
            self.process = None
        for host in (f"{self.prefix}0", f"{self.prefix}1"):
            subprocess.run(["ip", "netns", "del", host], capture_output=True, check=False)

    def set(self, *settings):
        netns("set", self.prefix, *settings)


class NetemPath(Network):
    """The same path with the kernel's netem and a token bucket, with the same settings except `step`."""
    report = None  # netem does not report its lateness
    UNITS = {"rate": "mbit", "queue": "k"}

    def __init__(self, _build, prefix, *settings):
        pairs = [setting.split("=") for setting in settings]
        super().__init__(prefix, 2, "offload=seg", *(f"{name}={value}{self.UNITS.get(name, '')}" for name, value in pairs))


def has_netem():
    """Whether this kernel has netem, possibly as a module that is not loaded."""
    done = subprocess.run(["modprobe", "-q", "sch_netem"], capture_output=True, check=False)
    return done.returncode == 0 or pathlib.Path("/sys/module/sch_netem").exists()


def ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


@contextlib.contextmanager
def sysctl(path, value):
    """Sets /proc/sys/<path> during the with block."""
    file = pathlib.Path("/proc/sys", path)
    before = file.read_text()
    file.write_text(str(value))
    try:
        yield
    finally:
        file.write_text(before)


def run_ahead():
    """For a child in its own session: a high weight for its scheduling group. With autogroups, nice values
    count only within the session, and another session would get half of the machine."""
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text("-15")
    with contextlib.suppress(OSError):
        os.nice(-15)


def run_first():
    """For a child that simulates the network: it runs whenever it has work, as a network would."""
    run_ahead()
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def run_json(command, environment=None, timeout=120, show=False):
    """(exit code, the command's JSON output or None, its stderr). With `show` its stderr goes to this process's
    instead, for programs that show progress on a terminal. Ends the command's whole session after the timeout or
    if the user interrupts. Messages are not compressed unless `environment` says so, because the benchmarks'
    numbers compress better than gradients."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE,
                               stderr=None if show else subprocess.PIPE, text=True,
                               start_new_session=True, env={"DLCP_COMPRESS": "off", **os.environ, **(environment or {})},
                               preexec_fn=run_ahead if os.geteuid() == 0 else None)
    try:
        output, errors = process.communicate(timeout=timeout)
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        return 124, None, f"no end after {timeout} s"
    try:
        return process.returncode, json.loads(output), errors
    except json.JSONDecodeError:
        return process.returncode, None, errors or output
