#!/usr/bin/env python3
"""test/rig/guest itself: status, output and files come back, time is bounded, nothing is left behind.
Skipped (77) where no guest can run."""

import os
import pathlib
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

    def test_status_output_and_shared_files_come_back_and_other_writes_do_not(self):
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

    def test_a_guest_beyond_its_time_is_stopped_and_says_so(self):
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
