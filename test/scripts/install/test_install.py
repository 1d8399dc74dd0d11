"""cmake --install: all files are installed, work after installation, and can be removed again.

  test_install.py BUILD"""

import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)).resolve()


def plugin_finding(prefix):
    """The finding of that installation's doctor about its plugin."""
    done = subprocess.run([prefix / "bin" / "dlcp", "doctor", "--json"], capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/bin:/bin"})
    return next(found for found in json.loads(done.stdout)["findings"] if found["check"] == "plugin")


class Install(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = pathlib.Path(folder.name, "a plâce", "usr")  # a path with a space must work
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix, "--strip"], check=True,
                       stdout=subprocess.DEVNULL)
        self.plugin = next(self.prefix.rglob("libnccl-net-dlcp.so"))

    def test_the_name_that_nccl_loads_by_default_is_in_a_folder_of_its_own(self):
        found = list(self.prefix.rglob("libnccl-net.so"))
        self.assertEqual([path.parent for path in found], [self.plugin.parent / "dlcp" / "default"])
        self.assertEqual(found[0].resolve(), self.plugin.resolve())

    def test_every_installed_tool_runs(self):
        for tool in ("dlcp", "dlcp-aggregator", "dlcp-hub", "dlcp-switch"):
            done = subprocess.run([self.prefix / "bin" / tool, "--version"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), tool)
            self.assertTrue((self.prefix / f"share/man/man1/{tool}.1").is_file(), tool)
            self.assertTrue((self.prefix / f"share/bash-completion/completions/{tool}").is_file(), tool)

    def test_pages_completion_and_licences_are_installed(self):
        for name in ("share/man/man1/dlcp-bench.1", "share/man/man5/dlcp.conf.5", "share/doc/nccl-dlcp/copyright",
                     "lib/systemd/system/dlcp-hub.service", "share/bash-completion/completions/dlcp",
                     "share/doc/nccl-dlcp/docs/settings.md", "share/doc/nccl-dlcp/switch/intent.schema.json",
                     "share/nccl-dlcp/dlcp.lua", "share/nccl-dlcp/profile_loss_example.py"):
            self.assertTrue((self.prefix / name).is_file(), name)
        done = subprocess.run([self.prefix / "share/nccl-dlcp/profile-loss", "--help"], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        wheel = (pathlib.Path(__file__).resolve().parents[3] / "src/python/binaries.py").read_text()
        for library in ("libfmt", "libcli11", "nlohmann-json3", "libyaml-cpp", "liblemon", "libkainjow-mustache"):
            self.assertIn(f'"{library}"', wheel)
            if pathlib.Path(f"/usr/share/doc/{library}-dev/copyright").is_file():
                self.assertTrue((self.prefix / "share/doc/nccl-dlcp/licences" / library).is_file(), library)

    def test_the_tool_finds_its_plugin_in_any_of_the_systems_folders(self):
        found = plugin_finding(self.prefix)
        self.assertIn(str(self.plugin), found["value"])
        self.assertEqual(shlex.split(found["fix"]), ["export", f"LD_LIBRARY_PATH={self.plugin.parent}:$LD_LIBRARY_PATH"])
        here = self.prefix / "lib64"
        if self.plugin.parent != here:
            here.mkdir()
            self.plugin.rename(here / self.plugin.name)
        self.assertIn(str(here / self.plugin.name), plugin_finding(self.prefix)["value"])

    def test_a_stage_contains_the_same_files_and_works_in_any_place(self):
        stage = self.prefix.parent / "stage"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr/local", "--strip"], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "DESTDIR": str(stage)})
        staged = stage / "usr" / "local"

        def files(folder):
            return sorted(path.relative_to(folder) for path in folder.rglob("*"))

        self.assertEqual(files(staged), files(self.prefix))
        moved = staged.rename(self.prefix.parent / "moved")
        self.assertIn(str(moved), plugin_finding(moved)["value"])

    def test_a_running_job_keeps_the_file_that_it_has_loaded(self):
        before = self.plugin.read_bytes()
        with self.plugin.open("rb") as loaded:
            os.utime(self.plugin, (1, 1))  # as of an older release
            subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix, "--strip"], check=True,
                           stdout=subprocess.DEVNULL)
            self.assertNotEqual(os.fstat(loaded.fileno()).st_ino, self.plugin.stat().st_ino)
            self.assertEqual(loaded.read(), before)

    def test_removing_what_was_installed_leaves_nothing(self):
        for name in (BUILD / "install_manifest.txt").read_text().splitlines():
            pathlib.Path(name).unlink()
        self.assertEqual([path for path in self.prefix.rglob("*") if not path.is_dir()], [])


if __name__ == "__main__":
    unittest.main()
