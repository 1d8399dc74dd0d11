"""The commands in the pages exist: verbs and options of the tools and scripts, settings, files, tests.

  test_docs_commands.py BUILD"""

import functools
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]) else None
# Up to the beginning of the next command of a pipe, a comment or a redirection.
TOOL = re.compile(r"(?<![\w/.-])(dlcp-switch|dlcp) (?:[A-Z_]+=\S+ )*([^|;&#>)]*)")
SCRIPT = re.compile(r"(?<![\w/.-])scripts/([a-z-]+) ([^|;&#>)]*)")
FILE = re.compile(r"(?<![\w./-])((?:src|scripts|test|switch|docs|include)/[\w./-]*\w)(?![\w*{])")
TEST = re.compile(r"(?:script|network|switch|test|bench|fuzz)_[a-z0-9_]+")
# Placeholders that a reader replaces.
PLACEHOLDER = re.compile(r"NAME|_vN|/X_|\b[A-Z]\b")


def pages():
    tops = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "test/README.md")]
    return tops + [path for kind in ("*.md", "*.yaml", "*.yml") for path in sorted((ROOT / "docs").rglob(kind))]


def code(page):
    """Lines to be typed: fenced ones, and text between backquotes; in other files than Markdown all of them."""
    if page.suffix != ".md":
        return page.read_text(encoding="utf-8").splitlines()
    fenced, lines, prose = False, [], []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        else:
            (lines if fenced else prose).append(line)
    return lines + re.findall(r"`([^`]+)`", " ".join(prose))


@functools.lru_cache(None)
def help_of(*command):
    done = subprocess.run([*command, "--help"], capture_output=True, text=True, check=False, timeout=900)
    return done.stdout if done.returncode == 0 else None


def options(words):
    """The options of a command, up to the command that it starts itself."""
    own = words.split(" -- ")[0].split()
    return [re.match(r"--?[\w-]+", word).group() for word in own if re.match(r"--?[a-z]", word)]


def has(text, option):
    return re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", text) is not None


class Commands(unittest.TestCase):
    def each(self, pattern):
        """The matches of the pattern, each with its page; no match at all is an error of the pattern."""
        found = [(match, f"{page.relative_to(ROOT)}: {line.strip()}") for page in pages() for line in code(page)
                 for match in pattern.finditer(line)]
        self.assertGreater(len(found), 10)
        return found

    def test_every_verb_and_option_of_the_tools(self):
        for match, where in self.each(TOOL):
            tool, words = BUILD / "bin" / match.group(1), match.group(2).split()
            if not words or not re.fullmatch(r"-*[a-z-]+", words[0]) or "-m dlcp" in match.string:
                continue
            text = help_of(tool) if words[0].startswith("-") else help_of(tool, words[0])
            self.assertIsNotNone(text, f"there is no {match.group(1)} {words[0]}; {where}")
            for option in options(match.group(2)):
                self.assertTrue(has(text, option), f"there is no {option}; {where}")

    def test_every_option_of_a_script(self):
        for match, where in self.each(SCRIPT):
            script = ROOT / "scripts" / match.group(1)
            self.assertTrue(script.exists(), where)
            if script.is_file() and os.access(script, os.X_OK):
                for option in options(match.group(2)):
                    self.assertTrue(has(help_of(script), option), f"there is no {option}; {where}")

    def test_every_file(self):
        for match, where in self.each(FILE):
            name = match.group(1)
            if not PLACEHOLDER.search(name):
                found = list((ROOT / name).parent.glob(pathlib.Path(name).name + "*"))  # also "net_v11" for its two files
                self.assertTrue(found, where)

    def test_every_test_by_its_name(self):
        listed = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only"], capture_output=True, text=True, check=True).stdout
        names = set(re.findall(r": (\S+)$", listed, flags=re.MULTILINE)) | {path.name for path in (BUILD / "bin").iterdir()}
        for match, where in self.each(TEST):
            if match.group() == match.string:
                self.assertTrue(match.group() in names, where)

    def test_every_setting(self):
        sources = [path for top in ("src", "scripts", "test", "CMakeLists.txt") for path in
                   ([ROOT / top] if (ROOT / top).is_file() else (ROOT / top).rglob("*")) if path.is_file()]
        known = set()
        for path in sources:
            if path.suffix != ".md" and path != pathlib.Path(__file__).resolve():
                known |= set(re.findall(r"\bDLCP_[A-Z0-9_]+\b", path.read_text(encoding="utf-8", errors="replace")))
        for match, where in self.each(re.compile(r"\bDLCP_[A-Z0-9_]+\b")):
            self.assertTrue(match.group() in known, where)


if __name__ == "__main__":
    unittest.main()
