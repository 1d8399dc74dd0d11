"""The scripts that build packages: what they read from tools and files, and that they can fail."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
PACKAGING = ROOT / "scripts" / "packaging"

HELP = """\
Does things - quickly.
Usage: tool {} [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --size TEXT                 Bytes; it's
                              more than one line

What to do:
  --speed FLOAT=1             How `fast`

{}Exit: 0 done.
  .tool --size 1
"""
VERBS = "Subcommands:\n  go                          Goes\n\n"


def run(script, *arguments, **variables):
    return subprocess.run([sys.executable, PACKAGING / script, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, **variables})


class Version(unittest.TestCase):
    def test_the_wheels_version_is_that_of_the_other_packages(self):
        project = (ROOT / "src" / "python" / "pyproject.toml").read_text()
        pattern = re.search(r"pattern = '(.*)'", project).group(1)
        found = re.search(pattern, (ROOT / "CMakeLists.txt").read_text())
        self.assertRegex(found.group("version"), r"^\d+\.\d+\.\d+$")


class Wheel(unittest.TestCase):
    def test_the_wheel_contains_the_same_tools_as_an_installation(self):
        rules = (ROOT / "scripts" / "cmake" / "install.cmake").read_text()
        tools = re.search(r"install\(TARGETS ([\w -]+) RUNTIME", rules).group(1).split()
        self.assertGreaterEqual(set(tools), {"dlcp", "dlcp-switch", "dlcp-aggregator", "dlcp-hub"})
        project = (ROOT / "src" / "python" / "pyproject.toml").read_text()
        built = (ROOT / "src" / "python" / "binaries.py").read_text()
        commands = (ROOT / "src" / "python" / "dlcp" / "tools.py").read_text()
        for tool in tools:
            function = tool.replace("-", "_")
            self.assertIn(f'"bin/{tool}"', built)
            self.assertIn(f'\n{tool} = "dlcp.tools:{function}"\n', project)
            self.assertIn(f'def {function}():\n    _become("{tool}")\n', commands)


class ToolPages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.tool = self.folder / "tool"

    def write_tool(self, top, verb):
        (self.folder / "top").write_text(top)
        (self.folder / "verb").write_text(verb)
        self.tool.write_text(f'#!/bin/sh\n[ "$1" = go ] && exec cat "{self.folder}/verb"\nexec cat "{self.folder}/top"\n')
        self.tool.chmod(0o755)

    def test_pages_and_completion_name_every_verb_and_option(self):
        self.write_tool(HELP.format("VERB", VERBS), HELP.format("go", ""))
        done = run("tool-pages", self.folder / "out", self.tool, SOURCE_DATE_EPOCH="86400")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = (self.folder / "out/man/man1/tool-go.1").read_text()
        self.assertIn('.TH "TOOL-GO" 1 1970-01-02', page)
        self.assertIn("tool\\-go \\- Does things \\- quickly", page)
        self.assertIn("\\fB\\-\\-size\\fR TEXT\nBytes; it's more than one line", page)
        self.assertIn("\\fB\\-\\-speed\\fR FLOAT=1\nHow fast", page)
        self.assertIn("Exit: 0 done.\n  .tool \\-\\-size 1", page)
        self.assertIn("\\fBtool\\-go\\fR(1)", (self.folder / "out/man/man1/tool.1").read_text())
        self.assertIn("\\fBDLCP_PATHS\\fR\n", (self.folder / "out/man/man5/dlcp.conf.5").read_text())
        fish = (self.folder / "out/fish/tool.fish").read_text()
        self.assertIn("-l size -r -d 'Bytes; it\\'s more than one line'", fish)
        self.assertIn("'--speed[How `fast`]:value:_files'", (self.folder / "out/zsh/_tool").read_text())

    def test_bash_completes_verbs_first_and_then_the_verbs_options(self):
        self.write_tool(HELP.format("VERB", VERBS), HELP.format("go", ""))
        run("tool-pages", self.folder / "out", self.tool)

        def complete(*words):
            script = (f'. {self.folder}/out/bash/tool; COMP_WORDS=({" ".join(words)}); '
                      f'COMP_CWORD={len(words) - 1}; _tool; echo "${{COMPREPLY[@]}}"')
            return subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split()

        self.assertEqual(complete("tool", "g"), ["go"])
        self.assertEqual(complete("tool", "go", "--s"), ["--size", "--speed"])

    def test_a_help_that_cannot_be_read_is_a_failure(self):
        self.write_tool("This tool has no help.\n", "")
        done = run("tool-pages", self.folder / "out", self.tool)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no usage or no options", done.stderr)


class GlibcFloor(unittest.TestCase):
    def test_a_program_above_the_bound_fails(self):
        program = os.path.realpath("/bin/sh")
        done = run("glibc-floor", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"GLIBC_2\.\d+ .* libc\.so\.6")
        self.assertEqual(run("glibc-floor", "--max", "2.0", program).returncode, 1)
        self.assertEqual(run("glibc-floor", "--max", "2.999", program).returncode, 0)

    def test_the_contents_of_packages_are_checked(self):
        with tempfile.TemporaryDirectory() as folder:
            wheel = pathlib.Path(folder, "a.whl")
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.write(os.path.realpath("/bin/sh"), "a/lib/b.so")
            self.assertEqual(run("glibc-floor", "--max", "2.0", wheel).returncode, 1)
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr("a/text", "nothing to see")
            done = run("glibc-floor", wheel)
        self.assertEqual(done.returncode, 2)
        self.assertIn("holds no ELF file", done.stderr)

    def test_files_of_any_age_get_the_same_time(self):
        with tempfile.TemporaryDirectory() as folder:
            old = pathlib.Path(folder, "usr", "old")
            old.parent.mkdir()
            old.write_text("of last year")
            for entry in (old, old.parent):
                os.utime(entry, (10**9, 10**9))
            subprocess.run(["cmake", f"-DCPACK_TEMPORARY_DIRECTORY={folder}", "-P", ROOT / "scripts/cmake/same_times.cmake"], check=True)
            for entry in (old, old.parent):
                self.assertGreater(entry.stat().st_mtime, 1.7e9)

    def test_other_files_than_packages_are_refused(self):
        self.assertEqual(run("glibc-floor", ROOT / "README.md").returncode, 2)
        self.assertEqual(run("glibc-floor", "/no/such").returncode, 2)


if __name__ == "__main__":
    unittest.main()
