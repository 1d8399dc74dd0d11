"""What scripts/bench and scripts/demo share: where the build is, networks of namespaces, and running
`dlcp bench` ahead of this machine's other users. Standard library only."""

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


@dataclasses.dataclass(frozen=True)
class Build:
    """The programs of one build folder."""
    folder: pathlib.Path

    @property
    def dlcp(self):
        return self.folder / "bin" / "dlcp"

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
        return [str(p.relative_to(self.folder)) for p in (self.dlcp, self.plugin, self.tcp) if not p.exists()]


def make_build(folder, targets=BENCH_TARGETS):
    """Configures the release preset there and builds what a benchmark needs, or `targets`; output only when it fails."""
    for command in (["cmake", "--preset", "release", "-B", str(folder)],
                    ["cmake", "--build", str(folder), "--target", *targets]):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{done.stdout}{done.stderr}\n{' '.join(command)} failed")
    return Build(pathlib.Path(folder))


def permitted():
    """None when networks of namespaces can be built here, else why not."""
    done = subprocess.run([NETNS, "check"], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return done.stderr.strip().splitlines()[-1].removeprefix("netns: ").split(". Run:")[0]


def skip(reason):
    """Ends a test that this machine cannot run: skipped (77), but failed where CI must run everything (CI=true)."""
    if os.environ.get("CI") == "true":
        print(f"failed: CI runs every test, and here: {reason}")
        sys.exit(1)
    print(f"skipped: {reason}")
    sys.exit(77)


def skip_without_networks():
    """Ends a test that needs a network where none can be built."""
    reason = permitted()
    if reason:
        skip(reason)


def build_for_test():
    """The build that a test's first argument names; ends the test where no network can be built."""
    build = Build(pathlib.Path(sys.argv.pop(1)).resolve())
    skip_without_networks()
    return build


class Network:
    """One network of namespaces, built on entry and removed on exit, whatever happens between."""

    def __init__(self, prefix, hosts, *settings):
        self.prefix, self.hosts, self.settings = prefix, hosts, settings

    def __enter__(self):
        netns("down", self.prefix)
        try:
            netns("up", self.prefix, str(self.hosts), *self.settings)
        except RuntimeError:
            netns("down", self.prefix)  # there may be half of it
            raise
        return self

    def __exit__(self, *_):
        netns("down", self.prefix)

    def set(self, *settings):
        netns("set", self.prefix, *settings)


class Unavailable(RuntimeError, unittest.SkipTest):
    """This machine lacks what a network was to do; a test is skipped by it, with the reason."""


def netns(*arguments):
    """What scripts/netns prints."""
    done = subprocess.run([NETNS, *arguments], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout
    # Where CI runs, everything has to be there.
    kind = Unavailable if done.returncode == 3 and os.environ.get("CI") != "true" else RuntimeError
    raise kind(f"netns {' '.join(arguments)}: {done.stderr.strip()}")


class RelayedPath:
    """Two namespaces with test/rig/path_relay between them: a path with any delay, jitter, loss and rate, built on
    entry and removed on exit. `report` is what the relay said of it at the end, or None."""

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
    """The same path by the kernel's netem and a token bucket, with the same settings but for `step`."""
    report = None  # netem says nothing of how late it was
    UNITS = {"rate": "mbit", "queue": "k"}

    def __init__(self, _build, prefix, *settings):
        pairs = [setting.split("=") for setting in settings]
        super().__init__(prefix, 2, "offload=seg", *(f"{name}={value}{self.UNITS.get(name, '')}" for name, value in pairs))


def has_netem():
    """Whether this kernel has netem, be it as a module that is not loaded."""
    done = subprocess.run(["modprobe", "-q", "sch_netem"], capture_output=True, check=False)
    return done.returncode == 0 or pathlib.Path("/sys/module/sch_netem").exists()


def ip(*arguments):
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


@contextlib.contextmanager
def sysctl(path, value):
    """Sets /proc/sys/<path> for a while."""
    file = pathlib.Path("/proc/sys", path)
    before = file.read_text()
    file.write_text(str(value))
    try:
        yield
    finally:
        file.write_text(before)


def run_ahead():
    """In a child of its own session: a high weight for its scheduling group. With autogroups on, nice
    alone only counts within the session, and another session would take half of the machine."""
    with contextlib.suppress(OSError):
        pathlib.Path("/proc/self/autogroup").write_text("-15")
    with contextlib.suppress(OSError):
        os.nice(-15)


def run_first():
    """In a child that stands for the network: it runs whenever it has something to do, as a network would."""
    run_ahead()
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def run_json(command, environment=None, timeout=120, show=False):
    """(exit code, what the command printed as JSON or None, its stderr). With `show` its stderr goes to ours
    instead, for programs that show progress on a terminal. Ends the command's whole session when it takes too
    long or the user interrupts. Messages are not compressed unless `environment` says so: the numbers that
    benchmarks sum compress better than gradients do."""
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
