"""Every script prints its help on request, and names an unknown word."""

import os
import pathlib
import subprocess
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "scripts"
# Scripts that take words, and what they take a wrong word for; the others take none, or a program of their own.
WITH_WORDS = ("bench", "check-format", "check-layers", "demo", "fresh", "gpu-demo", "nccl-host", "nccl-tests", "netns",
              "package", "profile-cost", "profile-loss", "readme-tables", "setup", "test", "whatif-check")


def run(script, *arguments):
    return subprocess.run([SCRIPTS / script, *arguments], capture_output=True, text=True, check=False, timeout=900,
                          env={**os.environ, "NCCL_TESTS_DIR": "/nonexistent"})


class Help(unittest.TestCase):
    def test_help_is_not_an_error_and_goes_to_stdout(self):
        for script in WITH_WORDS:
            for word in ("--help", "-h"):
                done = run(script, word)
                self.assertEqual(done.returncode, 0, (script, done.stderr))
                self.assertIn(script, done.stdout)
                self.assertEqual(done.stderr, "")

    def test_a_wrong_word_is_an_error_that_names_it(self):
        for script in WITH_WORDS:
            done = run(script, "--bogus")
            self.assertEqual(done.returncode, 2, (script, done.stdout, done.stderr))
            if script != "readme-tables":  # argparse asks for what is missing first
                self.assertIn("--bogus", done.stderr, script)

    def test_sources_are_read_equally_in_every_locale(self):
        ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        done = subprocess.run([SCRIPTS / "check-layers"], capture_output=True, text=True, check=False, timeout=900,
                              env={**os.environ, **ascii_only})
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
