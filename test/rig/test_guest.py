#!/usr/bin/env python3
"""test/rig/guest itself: status, output and files are returned, time is limited, nothing is left behind.
Skipped (77) where no guest can run."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

GUEST = pathlib.Path(__file__).resolve().parent / "guest"


def run(*arguments, **options):
    return subprocess.run([GUEST, *map(str, arguments)], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, **options)


class Guest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.environment = dict(os.environ, TMPDIR=self.folder, MARK="it's \"here\"")

    def test_status_output_and_shared_files_are_returned_and_other_writes_are_not(self):
        share = pathlib.Path(self.folder, "share")
        share.mkdir()
        outside = pathlib.Path(self.folder, "outside")
        command = (f'echo "$MARK $1"; seq 100000; echo wrong >&2; echo kept >{share}/kept; echo lost >{outside}; '
                   '[ -d /sys/module/sch_ets ] || exit 1; (sleep 1000 &); exit 7')
        done = run("--timeout", 240, "--share", share, "--env", "MARK", "--modules", "sch_ets", "--",
                   "bash", "-c", command, "bash", "two words", env=self.environment)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertEqual(done.stdout.splitlines(), ["it's \"here\" two words", *map(str, range(1, 100001))])
        self.assertEqual(done.stderr, "wrong\n")
        self.assertEqual((share / "kept").read_text(), "kept\n")
        self.assertFalse(outside.exists())
        self.assertEqual(os.listdir(self.folder), ["share"])

    def test_a_guest_has_the_configured_delay_of_a_network(self):
        netns = GUEST.parents[2] / "scripts" / "netns"
        command = (f"{netns} up g 2 offload=seg delay=20000 jitter=10000 rate=20mbit queue=64k && "
                   "ip netns exec gsw tc qdisc show dev p0 && ip netns exec g0 ping -qc 5 -i 0.2 10.77.0.2 && "
                   f"{netns} set g delay=0 rate=none && ip netns exec gsw tc qdisc show dev p0; "
                   f"{netns} set g delay=1ms || echo refused: $?")
        done = run("--timeout", 240, "--modules", "sch_netem sch_tbf veth bridge", "--", "bash", "-c", command,
                   env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        before, after = done.stdout.split(" packets transmitted")
        self.assertRegex(before, r"netem 1: .*delay 25ms  5ms")
        self.assertRegex(before, r"tbf 10: parent 1:1 rate 20Mbit")
        shortest = float(re.search(r"rtt min/avg/max/mdev = ([0-9.]+)", after)[1])
        self.assertGreaterEqual(shortest, 40)  # twice the delay
        self.assertNotIn("netem", after)
        self.assertIn("delay=1ms", done.stderr)
        self.assertIn("refused: 2", after)

    def test_a_guest_over_its_time_limit_is_stopped_with_a_message(self):
        done = run("--timeout", 2, "--", "sleep", "1000", env=self.environment)
        self.assertEqual(done.returncode, 124, done.stderr)
        self.assertIn("time limit of 2 s", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_wrong_usage_starts_nothing(self):
        for arguments in (["--timeout", "soon", "--", "true"], ["--frob"], ["--"], ["--timeout"]):
            self.assertEqual(run(*arguments, env=self.environment).returncode, 125, arguments)


if __name__ == "__main__":
    cannot = run("--check")
    if cannot.returncode:
        print(f"skipped: {cannot.stderr.strip()}")
        sys.exit(77)
    unittest.main(verbosity=2)
