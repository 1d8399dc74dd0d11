"""Every rule of scripts/check-prose finds a sample at its line, and code and tables are ignored."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "check-prose"


def check(text, exceptions=None, name="README.md"):
    """Findings and exit status of the check over a root with one page."""
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, name)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
        if exceptions is not None:
            pathlib.Path(folder, "scripts").mkdir()
            pathlib.Path(folder, "scripts/prose-exceptions.txt").write_text(exceptions, encoding="utf-8")
        done = subprocess.run([sys.executable, SCRIPT, "--root", folder], capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if ": '" in line or "has no finding" in line], done.returncode


class CheckProse(unittest.TestCase):
    def finds(self, text, words, line=1):
        found, status = check(text)
        self.assertEqual((len(found), status), (1, 1), found)
        self.assertTrue(found[0].startswith(f"README.md:{line}: '{words}'"), found[0])

    def passes(self, text):
        self.assertEqual(check(text), ([], 0))

    def test_words_are_found_in_any_case_with_their_line(self):
        self.finds("A line.\n\nDoctor prints the line that\nmends it.\n", "mends", 4)
        self.finds("Nobody answers.\n", "Nobody")
        self.finds("The host that sent it, to whom the\nanswer goes.\n", "whom")
        self.finds("The sender waits; he asks again.\n", "he")
        self.finds("A silence of so\nmany round trips ends it.\n", "so many")
        self.finds("The file is no plan.\n", "is no")

    def test_words_that_only_look_alike_pass(self):
        self.passes("Recommended amendments: there is no limit, it is no longer set, and this waits as long as it can.\n")

    def test_a_sentence_does_not_begin_with_a_relative_clause(self):
        self.finds("It works. What is lost is sent again.\n", "What is lost")
        self.finds("- an item\n- Who waits\n  asks.\n", "Who waits asks.", 2)
        self.passes("What is lost? Who\nasks?\n\n## What NCCL must say?\n\n| What | Who asks |\n|---|---|\n")

    def test_a_long_sentence_is_found_outside_tables(self):
        long = "It " + "counts one more word and " * 9
        self.finds(f"{long}{long}ends.\n", "It counts one")
        self.passes(f"{long}:\n\n1. {long}\n2. {long}\n\n| cell |\n|---|\n| {long * 2} |\n")

    def test_code_links_and_printed_tables_are_left_alone(self):
        self.passes("```\nnobody mends it\n```\n\nRun `mend whom` or [this](nobody.md).\n\n"
                    "<!-- table: dlcp knobs -->\n| somebody |\n<!-- end -->\n")

    def test_pages_and_folder_readmes_are_read_and_golden_files_are_not(self):
        for name in ("docs/recipes/page.md", "src/core/README.md"):
            self.assertEqual(check("Nobody.\n", name=name)[1], 1)
        self.assertEqual(check("Nobody.\n", name="test/switch/golden/README.md")[1], 2)  # nothing to look at

    def test_a_heading_names_its_subject(self):
        self.assertEqual(check("## What was lost\n\nA host.\n")[1], 1)
        self.passes("## Lost packets\n\n## What is lost?\n\n```\n## What is code\n```\n")

    def test_comments_of_sources_are_read_when_named(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "a.h")
            source.write_text('int nobody = f("// mend");  // What is left\n\n// What is lost is\n// repaired anew.\nint he;\n')
            done = subprocess.run([sys.executable, SCRIPT, "--root", folder, source], capture_output=True, text=True, check=False)
        self.assertEqual([line.split(": ")[0:2] for line in done.stdout.splitlines()[:-1]],
                         [["a.h:3", "'What is lost'"], ["a.h:4", "'anew'"]])

    def findings_of(self, name, text, *options):
        """(line, words) of the findings in one file, which is named unless options are given."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPT, "--root", folder, *(options or [file])], capture_output=True,
                                  text=True, check=False)
        return [tuple(line.split(": ")[0].rsplit(":", 1)[1:] + line.split(": ")[1:2])
                for line in done.stdout.splitlines()[:-1]]

    def test_names_of_test_cases_are_read(self):
        self.assertEqual(self.findings_of("test/a_test.cc", 'int nobody;\nTEST_CASE("who waits asks again") {\n'
                                          '  SECTION(\n      "it is "\n      "mended") {}\n  f("nobody");\n}\n', "--sources"),
                         [("2", "'Who waits asks'"), ("4", "'mended'")])

    def test_comments_and_docstrings_of_python_are_read(self):
        text = ('#!/usr/bin/env python3\n"""Nobody asks.\n\n  nobody.py --mend\n"""\nnobody = "he"  # whom\n\n# What is\n'
                '# left is mended.\n\n\ndef f():\n    """Asks.\n\n      nobody\n    anew\n    """\n')
        found = [("2", "'Nobody'"), ("6", "'whom'"), ("8", "'What is left'"), ("9", "'mended'"), ("16", "'anew'")]
        self.assertEqual(self.findings_of("a.py", text), found)
        self.assertEqual(self.findings_of("scripts/a", text, "--sources"), found)

    def test_comments_of_shell_and_cmake_are_read(self):
        text = '# Nobody asks.\n#   nobody --mend\necho "# he" ${a#he} \'# him\'  # anew\n'
        self.assertEqual(self.findings_of("a.cmake", text), [("1", "'Nobody'"), ("3", "'anew'")])
        self.assertEqual(self.findings_of("a", "#!/bin/bash\n" + text), [("2", "'Nobody'"), ("4", "'anew'")])
        self.assertEqual(self.findings_of("scripts/cmake/a.cmake", text, "--sources"), [("1", "'Nobody'"), ("3", "'anew'")])

    def test_an_exception_needs_a_reason_and_a_use(self):
        self.assertEqual(check("Nobody.\n", "# PATH WORDS: REASON\nREADME.md nobody: the user's name\n"), ([], 0))
        self.assertEqual(check("A host.\n", "README.md nobody: the user's name\n")[1], 1)
        self.assertEqual(check("A host.\n", "gone.md nobody: the user's name\n")[1], 1)
        self.assertEqual(check("Nobody.\n", "README.md nobody\n")[1], 1)


if __name__ == "__main__":
    unittest.main()
