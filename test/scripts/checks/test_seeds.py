"""scripts/seeds runs every seed once, continues where it was interrupted, and names the seed that fails."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

signal.signal(signal.SIGINT, signal.default_int_handler)  # children inherit it if it is ignored, as under nohup
SEEDS = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "seeds"
# Replaces the test program: records its seeds, and fails as Catch2 does at the seed in the file "bad".
PROGRAM = """#!/bin/bash
here=$(dirname "$0")
for ((seed = DLCP_FIRST_SEED; seed < DLCP_FIRST_SEED + DLCP_SEEDS; ++seed)); do
  echo $seed >>"$here/seen"
  if [ "$seed" = "$(cat "$here/bad")" ]; then echo "replay with DLCP_SEED=$seed"; exit 1; fi
done
[ -e "$here/idle" ] && echo "No tests ran" || echo "All tests passed (3 assertions in 1 test case)"
"""


class Seeds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        (self.build / "bin").mkdir()
        program = self.build / "bin" / "test_sim_exactness"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        self.fail_at("none")

    def fail_at(self, seed):
        (self.build / "bin" / "bad").write_text(str(seed))

    def seen(self):
        file = self.build / "bin" / "seen"
        seeds = sorted(map(int, file.read_text().split())) if file.exists() else []
        file.unlink(missing_ok=True)
        return seeds

    def run_seeds(self, *arguments):
        return subprocess.run([SEEDS, "--build", self.build, "--story", "exactness", "--jobs", "1", *arguments],
                              capture_output=True, text=True, check=False)

    def test_every_seed_runs_once_and_not_again(self):
        done = self.run_seeds("--count", "25", "--chunk", "10")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("25 seeds passed, 25 of them now", done.stdout)
        self.assertEqual(self.seen(), list(range(1, 26)))
        done = self.run_seeds("--count", "30", "--chunk", "10")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.seen(), list(range(21, 31)))  # the incomplete chunk is run completely
        self.run_seeds("--count", "5", "--chunk", "10", "--fresh")
        self.assertEqual(self.seen(), list(range(1, 6)))

    def test_overlapping_chunks_are_counted_once(self):
        self.run_seeds("--count", "20", "--chunk", "10")
        done = self.run_seeds("--count", "24", "--chunk", "15")
        self.assertIn("24 seeds passed, 4 of them now", done.stdout)

    def test_a_changed_program_has_passed_nothing(self):
        self.run_seeds("--count", "10", "--chunk", "10")
        program = self.build / "bin" / "test_sim_exactness"
        program.write_text(f"{PROGRAM}# changed\n")
        self.seen()
        self.assertIn("10 of them now", self.run_seeds("--count", "10", "--chunk", "10").stdout)
        self.assertEqual(self.seen(), list(range(1, 11)))

    def test_incomplete_lines_of_the_record_are_ignored(self):
        self.run_seeds("--count", "10", "--chunk", "10")
        with (self.build / "seeds" / "exactness").open("a") as record:
            record.write("7\n11 1")  # cut by a full disk
        self.assertIn("11 seeds passed, 1 of them now", self.run_seeds("--count", "11", "--chunk", "10").stdout)
        self.assertIn("0 of them now", self.run_seeds("--count", "11", "--chunk", "10").stdout)

    def test_an_interrupted_run_ends_after_the_chunks_that_run(self):
        program = self.build / "bin" / "test_sim_exactness"
        program.write_text(PROGRAM.replace("here=", "sleep 1; here=", 1))
        process = subprocess.Popen([SEEDS, "--build", self.build, "--story", "exactness", "--jobs", "1", "--count", "1000",
                                    "--chunk", "10"], stderr=subprocess.PIPE, text=True)
        while not (self.build / "bin" / "seen").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (130, ""))
        self.assertLessEqual(len(self.seen()), 30)

    def test_a_seed_that_fails_is_named_and_later_ones_are_not_run(self):
        self.fail_at(17)
        done = self.run_seeds("--count", "50", "--chunk", "10")
        self.assertEqual(done.returncode, 1)
        self.assertIn("exactness: seed 17 fails", done.stdout)
        self.assertRegex(done.stdout, r"DLCP_SEED=17 .*/test_sim_exactness 'every message arrives")
        self.assertEqual(self.seen(), list(range(1, 18)))
        self.fail_at("none")
        self.assertEqual(self.run_seeds("--count", "50", "--chunk", "10").returncode, 0)
        self.assertEqual(self.seen(), list(range(11, 51)))

    def test_a_program_that_runs_nothing_has_not_passed(self):
        (self.build / "bin" / "idle").touch()
        done = self.run_seeds("--count", "10", "--chunk", "10")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No tests ran", done.stdout)

    def test_every_story_is_a_test_that_exists(self):
        sources = "".join(path.read_text() for path in (SEEDS.parents[1] / "test" / "sim").rglob("*_test.cc"))
        cases = re.findall(r'"test_sim_\w+",\s*"([^"]+)"', SEEDS.read_text())
        self.assertEqual(len(cases), 4)
        for case in cases:
            self.assertIn(f'TEST_CASE("{case}")', sources)

    def test_wrong_words_and_a_missing_build_are_named(self):
        self.assertEqual(self.run_seeds("--count", "0").returncode, 2)
        os.unlink(self.build / "bin" / "test_sim_exactness")
        done = self.run_seeds()
        self.assertEqual(done.returncode, 3)
        self.assertIn("--target test_sim_exactness", done.stderr)
        done = subprocess.run([SEEDS, "--build", self.build / "none"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    unittest.main()
