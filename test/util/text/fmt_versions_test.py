"""util/text/format.cc defines the functions that fmt leaves to its library, for every fmt of a distribution: it compiles
without a warning and links with the installed fmt, with Debian 13's and with a newer one.

fmt_versions_test.py FOLDER   headers are downloaded into FOLDER, once; an unavailable version is skipped with the
reason, but is a failure where CI must run everything (CI=true)"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SOURCES = [ROOT / "src" / "util" / "text" / "format.cc", ROOT / "test" / "util" / "text" / "fmt_use.cc"]
FOLDER = pathlib.Path()
COMPILERS = [path for path in map(shutil.which, ("g++", "clang++")) if path]


def run(*command, cwd=None):
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")
    return done.stdout


def from_debian(folder, suite):
    """The headers of that suite's libfmt-dev, from an apt configuration for this suite only; the system's is not changed."""
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    if not shutil.which("apt-get") or not os.path.exists(keys):
        raise OSError(f"no apt with Debian's keys, from which libfmt-dev of {suite} would come")
    for name in ("lists/partial", "archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "sources.list").write_text(f"deb [signed-by={keys}] http://deb.debian.org/debian {suite} main\n")
    options = [f"Dir::Etc::SourceList={folder}/sources.list", "Dir::Etc::SourceParts=-", f"Dir::State={folder}",
               "Dir::State::Status=/dev/null", f"Dir::Cache={folder}", "Acquire::Languages=none", "APT::Sandbox::User=root"]
    options = [word for option in options for word in ("-o", option)]
    run("apt-get", *options, "update", "-qq")
    run("apt-get", *options, "download", "-qq", "libfmt-dev", cwd=folder)
    run("dpkg-deb", "-x", next(folder.glob("libfmt-dev_*.deb")), folder)
    return folder / "usr" / "include"


def from_wheel(folder, requirement):
    """The headers inside a wheel from PyPI."""
    run(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--only-binary", ":all:", "--dest", folder, requirement)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder / "cmeel.prefix" / "include"


class FmtVersions(unittest.TestCase):
    def fetched(self, name, fetch, what):
        folder = FOLDER / name
        done = folder / "include"
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                done.symlink_to(fetch(folder, what))
            except OSError as error:
                if os.environ.get("CI") == "true":
                    raise
                self.skipTest(str(error))
        return done

    def links(self, version, *include):
        for compiler in COMPILERS:
            program = FOLDER / "fmt_use"
            run(compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", *include, *SOURCES, "-o", program)
            self.assertRegex(run(program), f"^fmt {version}: ")

    def test_the_installed_one(self):
        self.links(r"\d+")

    def test_debian_13s(self):
        self.links(10, "-isystem", self.fetched("trixie", from_debian, "trixie"))

    def test_a_newer_one(self):
        self.links(12, "-isystem", self.fetched("newer", from_wheel, "cmeel-fmt==12.2.0"))


if __name__ == "__main__":
    FOLDER = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
