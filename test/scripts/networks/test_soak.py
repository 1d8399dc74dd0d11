"""scripts/soak verifies bytes over a bad network, continues where it was, and fails on wrong bytes or growing memory.

test_soak.py [BUILD]   BUILD: folder with bin/dlcp and lib/, for the one test that runs real rings"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

SOAK = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "soak"
BUILD = None


def soak(build, *arguments):
    return subprocess.run([SOAK, "--build", build, *arguments], capture_output=True, text=True, check=False, timeout=200)


class StandIn(unittest.TestCase):
    """A `dlcp` whose reports the test chooses."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        for part in ("bin", "lib"):
            (self.build / part).mkdir()
        (self.build / "lib" / "libnccl-net-dlcp.so").touch()

    def answer(self, before="", **report):
        program = self.build / "bin" / "dlcp"
        text = json.dumps({"bytes": 1 << 30, "bytes_wrong": 0, "error": None, **report})
        program.write_text(f"#!/bin/bash\necho $DLCP_FAULT $* >>'{self.build}/asked'\n{before}\necho '{text}'\n")
        program.chmod(0o755)

    def test_legs_add_up_over_runs_until_the_target_is_reached(self):
        self.answer()
        done = soak(self.build, "--target", "2G", "--leg", "1")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("soak: 2.00 GiB verified in 2 legs", done.stdout)
        done = soak(self.build, "--target", "3G", "--leg", "1")
        self.assertIn("leg 3: 3.00 GiB verified in all, 0 wrong", done.stdout)
        asked = (self.build / "asked").read_text().splitlines()
        self.assertEqual(len(asked), 3)
        self.assertIn("drop=0.01,", asked[0])
        self.assertEqual([line.split()[0].split("seed=")[1] for line in asked], ["1", "2", "3"])

    def test_wrong_bytes_fail(self):
        self.answer(bytes_wrong=8)
        done = soak(self.build, "--leg", "1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("leg 1 failed, after 0.0 GiB", done.stdout)

    def test_other_options_do_not_continue_a_run(self):
        self.answer()
        soak(self.build, "--target", "1G", "--leg", "1")
        done = soak(self.build, "--target", "2G", "--leg", "1", "--fault", "drop=0.5")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--fresh", done.stderr)
        self.assertIn("1.00 GiB verified in 1 legs",
                      soak(self.build, "--target", "1G", "--leg", "1", "--fault", "drop=0.5", "--fresh").stdout)

    def test_progress_cut_by_a_full_disk_is_ignored(self):
        self.answer()
        (self.build / "soak").mkdir()
        (self.build / "soak" / "progress.json").touch()
        self.assertIn("1.00 GiB verified in 1 legs", soak(self.build, "--target", "1G", "--leg", "1").stdout)

    def test_memory_that_was_not_measured_is_not_flat(self):
        self.answer()
        done = soak(self.build, "--target", "1G", "--leg", "1")
        self.assertIn("memory not measured", done.stdout)
        self.assertNotIn("flat", done.stdout)

    def test_long_output_does_not_stop_a_leg(self):
        self.answer(before="head -c 200000 /dev/zero | tr '\\0' x >&2")
        self.assertEqual(soak(self.build, "--target", "1G", "--leg", "1").returncode, 0)

    def test_a_signal_ends_the_leg(self):
        self.answer(before=f"echo $$ >'{self.build}/pid'; exec sleep 100")
        process = subprocess.Popen([SOAK, "--build", self.build], stdout=subprocess.DEVNULL)
        while not (self.build / "pid").exists() or not (self.build / "pid").read_text():
            time.sleep(0.01)
        time.sleep(0.5)  # the leg is a child now, and its memory is watched
        process.terminate()
        self.assertEqual(process.wait(60), 143)
        self.assertFalse(pathlib.Path("/proc", (self.build / "pid").read_text().strip()).exists())

    def test_memory_that_grows_fails(self):
        grow = "python3 -c 'import time\nkept = []\nfor i in range(40): kept.append(b\"x\" * (1 << 20)); time.sleep(0.1)'"
        self.answer(before=grow)
        done = soak(self.build, "--target", "1G", "--leg", "1")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stdout, r"a process grew by \d+\.\d MiB within a leg")

    def test_wrong_words_are_usage_errors(self):
        self.answer()
        for arguments in (("--target", "lots"), ("--hours", "nan"), ("--ranks", "1"), ("--roce", "ud")):
            self.assertEqual(soak(self.build, *arguments).returncode, 2, arguments)


class Rings(unittest.TestCase):
    def test_a_ring_over_a_bad_network_is_exact(self):
        with tempfile.TemporaryDirectory() as folder:
            build = pathlib.Path(folder)
            for part in ("bin", "lib"):
                (build / part).symlink_to(BUILD / part)
            done = soak(build, "--hours", "0.0008", "--leg", "3", "--size", "1M")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"soak: \d+\.\d\d GiB verified in 1 legs .* 0 wrong bytes")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
    else:
        del Rings
    unittest.main()
