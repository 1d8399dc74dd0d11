"""scripts/nccl-host detects every failed case and gives the reason; without NCCL's sources it is skipped."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "nccl-host"
sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("nccl_host", str(SCRIPT))
nccl_host = importlib.util.module_from_spec(importlib.util.spec_from_loader("nccl_host", LOADER))
LOADER.exec_module(nccl_host)

GOOD = {"ranks": 3, "results": 9, "elements_wrong": 0, "results_differing": 0, "chains": 6, "rings": 0,
        "exits": [0, 0, 0], "ended_after_s": [1, 1, 1], "bytes_compressed": 0, "profile": None}
PROFILE = {"ranks_of_job": 3, "ranks": [{}, {}, {}], "collectives": nccl_host.STEP_REDUCES}


def problems(case, collnet="on", **differs):
    return list(case.problems(GOOD | differs, collnet))


class Verdict(unittest.TestCase):
    plain = nccl_host.Case("plain", [3])
    killed = nccl_host.Case("killed", [3], fails=1, within_s=10)

    def test_a_correct_case_has_no_problem(self):
        self.assertEqual(problems(self.plain), [])
        self.assertEqual(problems(self.plain, "off", chains=0, rings=6), [])
        self.assertEqual(problems(self.plain, "auto", chains=0, rings=6), [])
        self.assertEqual(problems(self.killed, exits=[3, -9, 3]), [])

    def test_each_possible_error_is_named(self):
        for differs, text in (({"elements_wrong": 4}, "4 elements are wrong"), ({"results": 0}, "no result"),
                              ({"results_differing": 2}, "2 results differ"), ({"exits": [0, -9, 0]}, "-9"),
                              ({"chains": 0, "rings": 6}, "0 all-reduces went through CollNet")):
            found = problems(self.plain, **differs)
            self.assertEqual(len(found), 1, differs)
            self.assertIn(text, found[0])
        self.assertIn("which is off", problems(self.plain, "off")[0])

    def test_every_survivor_must_get_the_error_in_time(self):
        self.assertIn("rank 2 ended with -9", problems(self.killed, exits=[3, -9, -9])[0])
        self.assertIn("rank 0 ended with 0", problems(self.killed, exits=[0, -9, 3])[0])
        late = problems(self.killed, exits=[3, -9, 3], ended_after_s=[1, 0, 10.5])
        self.assertEqual(len(late), 1)
        self.assertIn("rank 2 needed 10.5 s", late[0])

    def test_a_case_that_should_compress_must_do_so(self):
        case = nccl_host.Case("compressed", [3], compresses=True)
        self.assertEqual(problems(case, bytes_compressed=1), [])
        self.assertEqual(problems(case), ["nothing was compressed"])

    def test_the_files_of_a_profiled_case_are_read(self):
        case = nccl_host.Case("profiled", [3], profiled=True)
        self.assertEqual(problems(case, profile=PROFILE), [])
        self.assertIn("no rank", problems(case, profile="no rank has written a file")[0])
        self.assertIn("2 of 3 ranks", problems(case, profile=PROFILE | {"ranks": [{}, {}]})[0])
        self.assertIn("steps of 1 collectives", problems(case, profile=PROFILE | {"collectives": 1})[0])

    def test_a_refused_communicator_is_an_error_on_every_rank(self):
        refused = nccl_host.Case("refused", [3], refused=True)
        self.assertEqual(problems(refused, exits=[2, 3, 2], results=0), [])
        self.assertIn("[2, 0, 2]", problems(refused, exits=[2, 0, 2], results=0)[0])
        self.assertIn("[2, -9, 2]", problems(refused, exits=[2, -9, 2], results=0)[0])


class Start(unittest.TestCase):
    def run_script(self, *arguments):
        environment = {name: value for name, value in os.environ.items() if name != "DLCP_NCCL_SOURCES"}
        return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False, env=environment)

    def test_without_sources_it_is_skipped(self):
        done = self.run_script()
        self.assertEqual(done.returncode, 77, done.stderr)
        self.assertIn("no NCCL sources", done.stdout)

    def test_a_folder_without_a_checkout_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaises(nccl_host.Fault) as raised:
                nccl_host.version_of(pathlib.Path(folder))
            self.assertIn(folder, str(raised.exception))
            makefiles = pathlib.Path(folder, "makefiles")
            makefiles.mkdir()
            (makefiles / "version.mk").write_text("NCCL_MAJOR   := 2\nNCCL_MINOR   := 30\nNCCL_PATCH   := 7\n")
            self.assertEqual(nccl_host.version_of(pathlib.Path(folder)), "2.30.7")

    def test_the_cases_are_listed(self):
        done = self.run_script("--list")
        self.assertEqual(done.returncode, 0)
        self.assertIn("two hosts of two", done.stdout.splitlines())


if __name__ == "__main__":
    unittest.main()
