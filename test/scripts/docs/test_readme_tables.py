"""scripts/readme-tables detects a stale table, replaces it, and does not change the other text."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "readme-tables"
TEXT = "before\n<!-- table: dlcp knobs -->\n{}<!-- end -->\nafter | a table of its own |\n"


class ReadmeTables(unittest.TestCase):
    def run_on(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "dlcp")
            program.write_text("#!/bin/sh\necho \"| $* |\"\n")
            program.chmod(0o755)
            readme = pathlib.Path(folder, "README.md")
            readme.write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, program, readme, *options],
                                  capture_output=True, text=True, check=False)
            return done.returncode, readme.read_text()

    def test_a_table_as_printed_passes(self):
        self.assertEqual(self.run_on(TEXT.format("| knobs --markdown |\n"))[0], 0)

    def test_a_stale_or_missing_table_fails(self):
        for table in ("", "| knobs |\n", "| knobs --markdown |\n| more |\n"):
            self.assertEqual(self.run_on(TEXT.format(table))[0], 1)

    def test_fix_writes_the_table_and_nothing_else(self):
        code, text = self.run_on(TEXT.format("old\n"), "--fix")
        self.assertEqual((code, text), (0, TEXT.format("| knobs --markdown |\n")))

    def test_a_readme_without_tables_is_not_a_pass(self):
        self.assertEqual(self.run_on("nothing\n")[0], 2)

    def test_one_stale_page_among_several_fails_and_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "dlcp")
            program.write_text("#!/bin/sh\necho \"| $* |\"\n")
            program.chmod(0o755)
            good, stale = pathlib.Path(folder, "good.md"), pathlib.Path(folder, "stale.md")
            good.write_text(TEXT.format("| knobs --markdown |\n"))
            stale.write_text(TEXT.format("| knob |\n"))
            done = subprocess.run([sys.executable, SCRIPT, program, good, stale], capture_output=True, text=True,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("stale.md", done.stdout)
        self.assertNotIn("good.md", done.stdout)


if __name__ == "__main__":
    unittest.main()
