"""`dlcp whatif` as a user meets it, from the recording to the page: whatif_test.py DLCP LOAD NET_PLUGIN PROFILER

Two ranks on this machine reduce over a plugin that is not DLCP, while DLCP's profiler records them."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

DLCP, LOAD, NET_PLUGIN, PROFILER = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
STEPS = 12


def whatif(*words):
    return subprocess.run([DLCP, "whatif", *map(str, words)], capture_output=True, text=True, check=False, timeout=60)


def start(folder, steps=STEPS, name="run-%r.json"):
    # The reference plugin has a C++ library of its own, whose memory a leak check reports once the plugin is unloaded.
    environment = {**os.environ, "NCCL_SOCKET_IFNAME": "lo", "DLCP_PROFILE_FILE": str(folder / name),
                   "ASAN_OPTIONS": "detect_leaks=0"}
    return [subprocess.Popen([LOAD, NET_PLUGIN, PROFILER, str(rank), "2", folder, "ring", str(steps), "10", "4096,1048576"],
                             env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(2)]


def record(folder, **options):
    outputs = [rank.communicate(timeout=60) + (rank.returncode,) for rank in start(folder, **options)]
    assert all(code == 0 for _, _, code in outputs), outputs
    return [float(line) for line in outputs[0][0].split()]


class Whatif(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.place.name)
        cls.steps = record(cls.folder)
        cls.files = sorted(cls.folder.glob("run-*.json"))

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def test_each_rank_writes_its_file_and_no_part_is_left(self):
        self.assertEqual([file.name for file in self.files], ["run-0.json", "run-1.json"])
        self.assertEqual(list(self.folder.glob("*.part")), [])
        run = json.loads(self.files[1].read_text())
        self.assertEqual((run["format"], run["rank"], run["ranks"]), ("dlcp-profile", 1, 2))
        self.assertEqual(len(run["records"]), 2 * STEPS)
        self.assertEqual(run["starts"], "kernel")
        self.assertEqual([sample["type"] for sample in run["samples"]], ["float32"])
        for row in run["records"]:
            record_of = dict(zip(run["columns"], row))
            self.assertLessEqual(record_of["enqueued_ns"], record_of["start_ns"])
            self.assertLess(record_of["start_ns"], record_of["end_ns"])
            self.assertGreater(record_of["blocked_ns"], 0)
            self.assertLessEqual(record_of["blocked_ns"], record_of["end_ns"] - record_of["start_ns"])

    def test_the_steps_are_those_of_the_job(self):
        answer = json.loads(whatif(*self.files, "--json").stdout)
        self.assertEqual(answer["collectives"], 2)
        self.assertEqual(answer["agreement"], 1)
        self.assertEqual(len(answer["ranks"]), 2)
        real = sorted(self.steps[1:])[len(self.steps) // 2]
        self.assertAlmostEqual(answer["now"]["seconds"] / real, 1, delta=0.3)
        self.assertAlmostEqual(sum(answer["shares"].values()), 1, places=6)
        names = [one["name"] for one in answer["predictions"]]
        for name in ("infinitely fast network", "at 10 Gbit/s", "at 400 Gbit/s", "with compression", "with direct exchange",
                     "without the tail", "without stragglers"):
            self.assertIn(name, names)
        self.assertTrue(all(one["assumption"] for one in answer["predictions"]))

    def test_the_text_fits_80_columns_and_ends_with_the_verdict(self):
        done = whatif(*self.files, "--rate", "40G,800M")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 80)
        self.assertRegex(done.stdout, r"at 800 Mbit/s")
        self.assertRegex(done.stdout, r"\n(Worth it|Not worth it)[^\n]*(\n[^\n]+)*\.\n$")

    def test_the_page_has_pictures_and_needs_nothing_else(self):
        page = self.folder / "page.html"
        self.assertEqual(whatif(*self.files, "-o", page).returncode, 0)
        text = page.read_text()
        self.assertEqual(text.count("<svg"), 2)
        self.assertEqual(text.count("<svg"), text.count("</svg>"))
        self.assertNotIn("src=", text)
        self.assertIn("rank 1", text)

    def test_bad_files_and_words_are_refused_by_name(self):
        broken = self.folder / "broken.json"
        broken.write_text(self.files[0].read_text()[:500])
        for words, said in (((broken,), "broken.json"), ((self.folder / "none.json",), "none.json"), ((), "DLCP_PROFILE_FILE"),
                            ((self.files[0], self.files[0]), "same process"), ((self.files[0], "--rate", "fast"), "fast")):
            done = whatif(*words)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_ranks_in_containers_of_one_host_may_have_the_same_process_id(self):
        files = []
        for file in self.files:
            run = {**json.loads(file.read_text()), "host": "node", "pid": 1}
            files.append(self.folder / f"container-{file.name}")
            files[-1].write_text(json.dumps(run))
        done = whatif(*files)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_killed_rank_leaves_the_last_whole_file(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            ranks = start(folder, steps=100000)
            deadline = time.monotonic() + 40
            while len(list(folder.glob("run-*.json"))) < 2 and time.monotonic() < deadline:
                time.sleep(0.2)
            for rank in ranks:
                rank.send_signal(signal.SIGKILL)
                rank.communicate()
            answer = json.loads(whatif(*sorted(folder.glob("run-*.json")), "--json").stdout)
            self.assertGreater(answer["steps"], 10)

    def test_a_file_that_cannot_be_written_does_not_stop_the_job(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(len(record(pathlib.Path(folder), name="no/such/folder-%r.json")), STEPS)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
