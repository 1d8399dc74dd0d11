#!/usr/bin/env python3
"""`dlcp stats` and `dlcp exact` with a running all-reduce: their output, and what they refuse.

stats_test.py DLCP PLUGIN"""

import fcntl
import json
import os
import re
import struct
import subprocess
import sys
import time
import unittest

DLCP, PLUGIN = "dlcp", "libnccl-net-dlcp.so"
RANKS = 3


def dlcp(*arguments):
    return subprocess.run([DLCP, *arguments], capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL)


def children(process):
    out = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True,
                         check=False).stdout
    return {int(pid) for pid in out.split()} | {process.pid}


class Job:
    """An all-reduce of three processes; `pids` once all have published their pages."""

    @staticmethod
    def start(**settings):
        return subprocess.Popen(
            [DLCP, "bench", "--plugin", PLUGIN, "--mode", "ring", "--ranks", str(RANKS), "--size", "256K",
             "--seconds", "30", "--timeout", "60"], stdout=subprocess.DEVNULL, env={**os.environ, **settings})

    def __enter__(self):
        self.process = self.start()
        self.pids = []
        end = time.monotonic() + 20
        while len(self.pids) < RANKS and time.monotonic() < end:
            time.sleep(0.2)
            self.pids = [p["pid"] for p in self.seen() if p["communicators"]
                         and p["communicators"][0]["receive"]["count"] > 10]
        return self

    def seen(self):
        done = dlcp("stats", "--json")
        mine = children(self.process)
        return [p for p in json.loads(done.stdout or '{"processes": []}')["processes"] if p["pid"] in mine]

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def options(self):
        return [word for pid in self.pids for word in ("--pid", str(pid))]


class OtherVersion:
    """This process, with the page of a plugin whose layout differs (its head is the same in all versions)."""

    def __enter__(self):
        self.page = os.memfd_create("dlcp-live", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.page, 8192)
        fcntl.fcntl(self.page, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
        fcntl.lockf(self.page, fcntl.LOCK_EX)
        os.pwrite(self.page, struct.pack("<QQ32s64sqIIQ", 0x31766C70636C64, 8192, b"9.9.9", b"oldjob", 1, 0, 0, 12345), 0)
        return self

    def __exit__(self, *_):
        os.close(self.page)


class StatsTest(unittest.TestCase):
    def test_a_running_job(self):
        with Job() as job:
            self.assertEqual(len(job.pids), RANKS)
            first = {p["pid"]: p["communicators"][0] for p in job.seen()}
            self.assertEqual(sorted(row["rank"] for row in first.values()), list(range(RANKS)))
            explained = [row["counter"] for row in json.loads(dlcp("counters", "--json").stdout)]
            self.assertEqual(list(first[job.pids[0]]["counters"]), [name for name in explained if "." not in name])
            time.sleep(0.7)
            for process in job.seen():
                row, before = process["communicators"][0], first[process["pid"]]
                self.assertGreater(row["counters"]["bytes_sent"], before["counters"]["bytes_sent"])
                self.assertEqual(row["ranks"], RANKS)
                self.assertEqual(row["lost_bytes"], 0)
                self.assertEqual(row["delivered_share"], 1)
                self.assertLess(0, row["send"]["p50_s"])
                self.assertLessEqual(row["send"]["p50_s"], row["send"]["p99_s"])
                device = process["devices"][0]
                self.assertEqual(device["datapath"], "udp")
                self.assertEqual(list(device["datapath_counters"]),
                                 [name[len("udp."):] for name in explained if name.startswith("udp.")])
                self.assertGreater(device["datapath_counters"]["rx_packets"], 0)

            table = dlcp("stats", *job.options())
            self.assertEqual(table.returncode, 0, table.stderr)
            self.assertEqual(table.stdout.count("communicator"), RANKS)
            self.assertIn(f"rank {RANKS - 1}/{RANKS}", table.stdout)
            self.assertLessEqual(max(map(len, table.stdout.splitlines())), 80)

            paths = dlcp("stats", "--paths", "--pid", str(job.pids[0]))
            rows = re.findall(r"127\.0\.0\.1:(\d+) > 127\.0\.0\.1:(\d+) +(\d+)", paths.stdout)
            self.assertEqual(len(rows), 16, paths.stdout)
            self.assertEqual(len({port for port, _, _ in rows}), 16)
            self.assertTrue(all(int(port) >= 49152 for row in rows for port in row[:2]))
            sent = first[job.pids[0]]["counters"]["packets_sent"]
            self.assertGreater(sent, 0)
            self.assertGreaterEqual(sum(int(packets) for _, _, packets in rows), sent // 2)  # an avoided path restarts
            self.assertLessEqual(max(map(len, paths.stdout.splitlines())), 80)

            top = dlcp("top", "--interval", "500ms", *job.options())
            self.assertEqual(top.returncode, 0, top.stderr)
            self.assertEqual(len(top.stdout.splitlines()), 2 + RANKS, top.stdout)
            self.assertLessEqual(max(map(len, top.stdout.splitlines())), 80)
            rates = json.loads(dlcp("top", "--json", "--interval", "500ms", *job.options()).stdout)
            self.assertEqual({row["pid"] for row in rates}, set(job.pids))
            self.assertTrue(all(row["sent_gbps"] > 0 and row["send_p99_s"] > 0 for row in rates), rates)

            self.made_exact(job)

    def made_exact(self, job):
        def state():
            time.sleep(0.5)
            return [p["pid"] for p in job.seen() if p["made_exact"]]

        chosen = job.pids[0]
        number = json.loads(dlcp("stats", "--json", "--pid", str(chosen)).stdout)["processes"][0]["communicators"][0]
        # Only these processes: another one on this host may have the page of another version.
        listed = dlcp("exact", "--dry-run", "--communicator", number["communicator"][:12], *job.options())
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertTrue(all(str(pid) in listed.stdout for pid in job.pids), listed.stdout)
        self.assertIn("may lose", listed.stdout)
        self.assertEqual(state(), [])
        exact = dlcp("exact", "--pid", str(chosen))
        self.assertEqual(exact.returncode, 0, exact.stderr)
        self.assertIn(str(chosen), exact.stdout.splitlines()[1])  # the list comes first
        self.assertIn("1 process accepts no loss from now on", exact.stdout)
        self.assertEqual(state(), [chosen])
        self.assertIn("dlcp exact", dlcp("stats", "--pid", str(chosen)).stdout)
        undone = json.loads(dlcp("exact", "--undo", "--json", "--pid", str(chosen)).stdout)
        self.assertEqual((undone["changed"], undone["exact"], len(undone["processes"])), (True, False, 1))
        self.assertEqual(state(), [])
        unsaid = dlcp("exact")
        self.assertEqual(unsaid.returncode, 2)
        self.assertIn(str(chosen), unsaid.stdout)
        self.assertIn("nothing was changed", unsaid.stderr)
        unasked = dlcp("exact", "--all")  # stdin is not a terminal
        self.assertEqual(unasked.returncode, 2)
        self.assertIn("--yes", unasked.stderr)
        self.assertEqual(state(), [])

    def test_processes_that_cannot_be_made_exact_are_named(self):
        with Job.start(DLCP_LIVE_STATS="0") as job:
            try:
                end, ranks = time.monotonic() + 20, set()
                while time.monotonic() < end and len(ranks) < RANKS:
                    time.sleep(0.2)
                    done = dlcp("exact", "--all", "--dry-run")
                    named = re.findall("process ([0-9]+) has loaded the plugin but cannot be reached", done.stderr)
                    ranks = {int(pid) for pid in named} & children(job)
                self.assertEqual(len(ranks), RANKS)
                self.assertEqual(done.returncode, 3)
                self.assertIn("only as a profiler", done.stderr)
                user = ("exact", "--dry-run", "--user", str(os.getuid()))
                self.assertIn("cannot be reached", dlcp(*user).stderr)
                self.assertNotIn("cannot be reached", dlcp(*user, "--communicator", "123456789abcdef").stderr)
                self.assertIn("DLCP_LIVE_STATS=0", dlcp("exact", "--dry-run", "--pid", str(ranks.pop())).stderr)
            finally:
                job.terminate()

    def test_processes_of_another_version_are_named(self):
        with OtherVersion():
            for command in (["stats", "--pid"], ["top", "--interval", "200ms", "--pid"]):
                done = dlcp(*command, str(os.getpid()))
                self.assertEqual((done.returncode, done.stdout), (3, ""))
                self.assertIn(f"process {os.getpid()}: it runs DLCP 9.9.9", done.stderr)
            done = dlcp("exact", "--dry-run", "--communicator", "123456789abcdef")
            self.assertEqual(done.returncode, 3)
            self.assertRegex(done.stderr, f"process {os.getpid()}: it runs DLCP 9.9.9.+use --pid")
            done = dlcp("exact", "--dry-run", "--pid", str(os.getpid()))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("unknown: it runs another version", done.stdout)

    def test_every_process_that_is_not_found_is_named(self):
        done = dlcp("stats", "--pid", "1,2")
        self.assertEqual([line.split()[3] for line in done.stderr.splitlines()], ["1", "2"])

    def test_invalid_targets_are_refused(self):
        for user in ("4294967295", "4294967296"):
            done = dlcp("exact", "--user", user, "--dry-run")
            self.assertEqual(done.returncode, 2)
            self.assertIn("does not exist on this host", done.stderr)
        none = dlcp("stats", "--pid", "1")
        self.assertEqual(none.returncode, 3)
        self.assertIn("process 1 does not use the plugin", none.stderr)
        self.assertEqual(none.stdout, "")
        none = dlcp("stats", "--json", "--pid", "1")
        self.assertEqual((none.returncode, json.loads(none.stdout)), (3, {"processes": []}))
        self.assertEqual(dlcp("exact", "--user", "no-such-user-of-this-host", "--dry-run").returncode, 2)
        self.assertEqual(dlcp("exact", "--all", "--pid", "1").returncode, 2)
        self.assertEqual(dlcp("stats", "--json", "--prometheus").returncode, 2)


if __name__ == "__main__":
    DLCP, PLUGIN = sys.argv[1:3]
    del sys.argv[1:3]
    unittest.main()
