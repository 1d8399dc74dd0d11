#!/usr/bin/env python3
"""Jobs on real sockets whose path, hosts or peers misbehave: packets that no longer fit the MTU, a filter that passes
probes but not data, all ranks stopped for longer than the peer timeout, killed processes. The measured times are
printed.

test_live.py BUILD [Path|Processes]   Exits with 77 where namespaces are not permitted."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "scripts"))
import idle_pair  # noqa: E402
import rig  # noqa: E402

PREFIX = f"liv{os.getpid() % 10000}x"
BUILD = None
KILLS = 20           # per side
RECOVERED_MS = 1000  # limit after a change of the path
KNOWN_MS = 100       # limit until a killed process is detected
# A process that has never answered gets more time: the path to it may be long.
KNOWN_UNHEARD_MS = 500


def at_switch(*command):
    subprocess.run(["ip", "netns", "exec", f"{PREFIX}sw", *command], check=True, capture_output=True)


@contextlib.contextmanager
def running(*arguments, **settings):
    """`dlcp bench` between hosts 0 and 1; killed at the end if it still runs."""
    command = [BUILD.dlcp, "bench", "--plugin", BUILD.plugin, "--netns", PREFIX, "--json", *arguments]
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True, env={**os.environ, **settings})
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def result_of(process):
    output, errors = process.communicate(timeout=60)
    return process.returncode, json.loads(output), errors


class Path(unittest.TestCase):
    """One message takes as long as the connection stalls."""

    def setUp(self):
        self.network = rig.Network(PREFIX, 2, "mtu=9000", "offload=off")
        self.network.__enter__()
        self.addCleanup(self.network.__exit__)

    def stands_still(self, change, seconds=4):
        """Milliseconds of the slowest message during `change`; all bytes must be correct."""
        with running("--mode", "bw", "--size", "64K", "--seconds", seconds) as process:
            time.sleep(seconds / 2)
            change()
            status, result, errors = result_of(process)
        self.assertEqual(status, 0, errors)
        self.assertEqual(result["bytes_wrong"], 0)
        return result["max_us"] / 1e3

    def test_packets_shrink_and_grow_with_the_path_under_load(self):
        for before, after in ((9000, 1500), (1500, 1280), (1280, 9000)):
            self.network.set(f"portmtu={before}")
            took = self.stands_still(lambda: self.network.set(f"portmtu={after}"))
            print(f"    MTU {before} -> {after}: the slowest message took {took:.0f} ms", flush=True)
            self.assertLessEqual(took, RECOVERED_MS)

    def test_a_bench_across_hosts_reports_every_rank_after_the_path_has_shrunk(self):
        command = [BUILD.dlcp, "bench", "--plugin", BUILD.plugin, "--mode", "alltoall", "--size", "64K", "--seconds", "3",
                   "--world", "2", "--rendezvous", "10.77.0.1", "--timeout", "15", "--json"]
        ranks = [subprocess.Popen(["ip", "netns", "exec", f"{PREFIX}{rank}", *map(str, command), "--rank", str(rank)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in (0, 1)]
        time.sleep(1.5)
        self.network.set("portmtu=1500")
        (output, errors), (_, others) = [rank.communicate(timeout=60) for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0, 0], errors + others)
        self.assertEqual(json.loads(output)["bytes_wrong"], 0)

    def test_packets_grow_again_in_the_same_connection(self):
        def bytes_per_packet():
            counts = [f"/sys/class/net/p1/statistics/tx_{of}" for of in ("bytes", "packets")]
            read = ["ip", "netns", "exec", f"{PREFIX}sw", "cat", *counts]
            first, second = (list(map(int, subprocess.run(read, check=True, capture_output=True).stdout.split()))
                             for _ in (0, time.sleep(0.2)))
            return (second[0] - first[0]) / max(second[1] - first[1], 1)

        with running("--mode", "bw", "--size", "1M", "--seconds", 7) as process:
            time.sleep(1)
            self.network.set("portmtu=1500")
            time.sleep(1.5)
            self.network.set("portmtu=9000")
            begin, size = time.monotonic(), 0
            while time.monotonic() < begin + 4 and size < 6000:
                size = bytes_per_packet()
            took = time.monotonic() - begin
            status, result, errors = result_of(process)
        self.assertEqual(status, 0, errors)
        self.assertEqual(result["bytes_wrong"], 0)
        print(f"    {size:.0f} bytes per packet {took:.1f} s after the path grew again", flush=True)
        self.assertGreater(size, 6000)

    def drop(self, *match):
        """A filter on the switch's port from host 0."""
        at_switch("nft", "add table netdev policer; "
                  "add chain netdev policer in { type filter hook ingress device p0 priority 0; }; "
                  f"add rule netdev policer in {' '.join(match)} drop")

    @unittest.skipUnless(shutil.which("nft", path="/usr/sbin:/sbin:/usr/bin:/bin"), "no nft")
    def test_a_filter_by_length_that_passes_probes_costs_less_than_a_second(self):
        took = self.stands_still(lambda: self.drop("meta", "length", "8000-9000"))
        print(f"    packets of 8000 bytes and more are lost: the slowest message took {took:.0f} ms", flush=True)
        self.assertLessEqual(took, RECOVERED_MS)

    @unittest.skipUnless(shutil.which("nft", path="/usr/sbin:/sbin:/usr/bin:/bin"), "no nft")
    def test_a_filter_that_passes_no_data_is_reported_as_such(self):
        with running("--mode", "bw", "--size", "64K", "--seconds", 20, DLCP_PEER_TIMEOUT="2",
                     NCCL_DEBUG="WARN") as process:
            time.sleep(2)
            begin = time.monotonic()
            self.drop("@th,80,8", "0x01")  # the type of a data packet, behind the UDP header
            status, _, errors = result_of(process)
            took = time.monotonic() - begin
        print(f"    no data passes: an error after {took:.1f} s", flush=True)
        self.assertEqual(status, 3)
        self.assertIn("the peer answers, but for 2000 ms no packet got through to it", errors)
        self.assertLess(took, 6)


class Processes(unittest.TestCase):
    def setUp(self):
        self.network = rig.Network(PREFIX, 2, "mtu=9000")
        self.network.__enter__()
        self.addCleanup(self.network.__exit__)

    def test_ranks_stopped_together_for_twice_the_peer_timeout_continue(self):
        with running("--mode", "bw", "--size", "1M", "--seconds", 11, "--timeout", 3,
                     DLCP_PEER_TIMEOUT="4") as process:
            time.sleep(2)
            os.killpg(process.pid, signal.SIGSTOP)
            time.sleep(8)
            os.killpg(process.pid, signal.SIGCONT)
            status, result, errors = result_of(process)
        self.assertEqual(status, 0, errors)
        self.assertEqual(result["bytes_wrong"], 0)
        print(f"    stopped for 8 s with a timeout of 4 s: {result['messages']} messages, all correct", flush=True)

    def test_a_killed_process_is_detected_in_a_tenth_of_a_second(self):
        # A kernel reports a closed port to each peer once per second, after a burst of six. The trials follow each other
        # faster than that; real crashes do not.
        for host in (0, 1):
            subprocess.run(["ip", "netns", "exec", f"{PREFIX}{host}", "sysctl", "-qw", "net.ipv4.icmp_ratelimit=0"],
                           check=True)
        for killed, name in ((0, "sender"), (1, "receiver")):
            times = []
            for trial in range(KILLS):
                with running("--mode", "bw", "--size", "1M", "--seconds", 8, "--kill-rank", killed,
                             "--kill-after-ms", 100 + 7 * trial) as process:
                    _, result, errors = result_of(process)
                found = result["time_to_error_ms"][1 - killed]
                self.assertIsNotNone(found, errors)
                self.assertEqual(result["result_codes"][1 - killed], "ncclRemoteError")
                times.append(found)
            times.sort()
            print(f"    {name} killed, detected after p50 {statistics.median(times):.0f}, p90 "
                  f"{times[KILLS * 9 // 10 - 1]:.0f}, max {times[-1]:.0f} ms, of {KILLS}", flush=True)
            self.assertLessEqual(times[KILLS * 9 // 10 - 1], KNOWN_MS)

    def test_a_process_killed_before_it_answered_is_detected_as_well(self):
        listener = self.inside(1, "listen")
        handle = listener.stdout.readline().strip()
        self.assertEqual(len(handle), 2 * idle_pair.HANDLE_BYTES)
        listener.kill()
        listener.wait()
        connecting = self.inside(0, "connect", handle)
        said = json.loads(connecting.communicate(timeout=30)[0])
        print(f"    killed before the first HELLO: {said['error']} after {said['ms']:.0f} ms", flush=True)
        self.assertEqual(said["error"], "connect returned 6")  # ncclRemoteError
        self.assertLessEqual(said["ms"], KNOWN_UNHEARD_MS)

    def inside(self, host, *role):
        process = subprocess.Popen(
            ["ip", "netns", "exec", f"{PREFIX}{host}", sys.executable, __file__, str(BUILD.plugin), *role],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "DLCP_PEER_TIMEOUT": "10"})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process


def play(plugin, role, handle=""):
    """One process of the last test: listens and prints its handle, or connects and prints the outcome."""
    net = idle_pair.load(plugin)
    memory = (idle_pair.ctypes.c_char * idle_pair.HANDLE_BYTES).from_buffer_copy(
        bytes.fromhex(handle) or bytes(idle_pair.HANDLE_BYTES))
    if role == "listen":
        comm = idle_pair.POINTER()
        idle_pair.check(net.listen(0, memory, idle_pair.ctypes.byref(comm)), "listen")
        print(bytes(memory).hex(), flush=True)
        time.sleep(60)
        return
    begin, error = time.monotonic(), "none"
    try:
        idle_pair.until_there(lambda comm, device: net.connect(0, memory, comm, device), "connect")
    except RuntimeError as failed:
        error = str(failed)
    print(json.dumps({"error": error, "ms": (time.monotonic() - begin) * 1e3}), flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2 and sys.argv[2] in ("listen", "connect"):
        play(*sys.argv[1:])
    else:
        BUILD = rig.build_for_test()
        unittest.main(verbosity=2)
