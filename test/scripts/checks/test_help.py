"""Every script prints its help on request, and names an unknown word."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / "scripts"
NAMES = sorted(path.name for path in SCRIPTS.iterdir() if path.is_file() and os.access(path, os.X_OK))
# They complain about a missing argument before they look at the words.
INCOMPLETE = {"readme-tables", "sonic-vs", "switch-goldens", "switch-lab", "switch-yang", "switch-yang-set"}


def run(script, *arguments):
    return subprocess.run([SCRIPTS / script, *arguments], capture_output=True, text=True, check=False, timeout=900,
                          env={**os.environ, "NCCL_TESTS_DIR": "/nonexistent"})


class Help(unittest.TestCase):
    def test_help_is_not_an_error_and_goes_to_stdout(self):
        self.assertGreater(len(NAMES), 25)
        for script in [*NAMES, "packaging/use"]:
            for word in ("--help", "-h"):
                done = run(script, word)
                self.assertEqual(done.returncode, 0, (script, done.stderr))
                self.assertIn(script, done.stdout)
                self.assertEqual(done.stderr, "")

    def test_a_wrong_word_is_an_error_that_names_it(self):
        for script in NAMES:
            done = run(script, "--bogus")
            self.assertEqual(done.returncode, 2, (script, done.stdout, done.stderr))
            if script not in INCOMPLETE:
                self.assertIn("--bogus", done.stderr, script)

    def test_words_that_would_check_nothing_are_errors(self):
        for script, *words in (("fresh", "debian-12", "--only", "launchers"), ("switch-yang-set", "--target", "srlinux"),
                               ("nccl-host", "--collnet", "off", "--hubs", "2"), ("nccl-host", "--ranks", "a"),
                               ("nccl-host", "--env", "x"), ("check-format", "--fix", "--bogus"),
                               ("gpu-demo", "--build", "x", "--bogus"), ("demo", "--seconds"), ("demo", "--build"),
                               ("simulate-figures", "--seeds")):
            done = run(script, *words)
            self.assertEqual(done.returncode, 2, (script, words, done.stdout, done.stderr))

    def test_without_its_clang_format_nothing_is_checked_or_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            stub = pathlib.Path(folder, "clang-format")
            stub.write_text("#!/bin/sh\necho clang-format version 18.1.3\n")
            stub.chmod(0o755)
            for tool in ("bash", "dirname", "readlink", "grep"):
                pathlib.Path(folder, tool).symlink_to(shutil.which(tool))
            for words in ((), ("--fix",)):
                done = subprocess.run([shutil.which("bash"), SCRIPTS / "check-format", *words], capture_output=True, text=True,
                                      check=False, env={"PATH": folder})
                self.assertEqual((done.returncode, done.stderr), (77, ""))

    def test_sources_are_read_equally_in_every_locale(self):
        ascii_only = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        done = subprocess.run([SCRIPTS / "check-layers"], capture_output=True, text=True, check=False, timeout=900,
                              env={**os.environ, **ascii_only})
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
