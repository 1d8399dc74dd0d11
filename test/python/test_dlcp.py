"""The Python package: its values for NCCL, its calls of the tool, and its messages about wrong values.

    test_dlcp.py FOLDER     the build folder, with libnccl-net-dlcp.so in lib and dlcp in bin"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 and os.path.isdir(sys.argv[1]) else None
SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src" / "python" / "dlcp"


def setUpModule():
    """A package as in the wheel, with links instead of the built files."""
    global FOLDER  # pylint: disable=global-variable-undefined
    FOLDER = tempfile.TemporaryDirectory()
    package = pathlib.Path(FOLDER.name, "dlcp")
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("lib/libnccl-net-dlcp.so", "bin/dlcp", "bin/dlcp-aggregator", "bin/dlcp-hub", "bin/dlcp-switch"):
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).symlink_to(BUILD.resolve() / name)
    sys.path.insert(0, FOLDER.name)
    global dlcp  # pylint: disable=global-variable-undefined
    import dlcp  # pylint: disable=import-outside-toplevel


def tearDownModule():
    FOLDER.cleanup()


def run(*arguments, **variables):
    return subprocess.run([sys.executable, "-m", "dlcp", *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": FOLDER.name, **variables})


class Environment(unittest.TestCase):
    def test_the_plugin_is_found_before_any_other_of_the_same_name(self):
        folder = os.path.dirname(dlcp.plugin_path())
        made = dlcp.environment({"LD_LIBRARY_PATH": f"/a:{folder}::/b", "OTHER": "stays"})
        self.assertEqual(made, {"LD_LIBRARY_PATH": f"{folder}:/a:/b", "NCCL_NET_PLUGIN": "dlcp", "NCCL_NET": "DLCP",
                                "OTHER": "stays"})

    def test_the_callers_own_environment_is_not_changed(self):
        base = {}
        dlcp.environment(base)
        self.assertEqual(base, {})
        self.assertEqual(dlcp.environment(base)["LD_LIBRARY_PATH"], os.path.dirname(dlcp.plugin_path()))

    def test_a_damaged_package_names_the_missing_file_and_a_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(SOURCE, pathlib.Path(folder, "dlcp"))
            done = run("path", PYTHONPATH=folder)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^dlcp: .*lib/libnccl-net-dlcp\.so is not there.*install it again")


class Licence(unittest.TestCase):
    def test_numbers_equal_those_of_the_tool(self):
        for options, arguments in (({}, []), ({"priority": "bulk"}, ["--priority", "bulk"]),
                                   ({"type": "bf16"}, ["--type", "bf16"])):
            told = subprocess.run([BUILD / "bin" / "dlcp", "traffic-class", "--budget", "0.01", *arguments],
                                  capture_output=True, text=True, check=True).stdout
            self.assertEqual(dlcp.traffic_class(0.01, **options), int(told))
        self.assertNotEqual(dlcp.traffic_class(budget=0), dlcp.traffic_class(budget=0.01))

    def test_wrong_values_are_refused(self):
        for budget in (float("nan"), float("inf"), 10**400, 0.9, -0.1, "0.01", None, True):
            with self.subTest(budget=budget), self.assertRaises(ValueError):
                dlcp.traffic_class(budget=budget)
        with self.assertRaises(ValueError):
            dlcp.traffic_class(0.01, type="int8")

    def with_torch(self, options):
        torch = types.ModuleType("torch")
        torch.__version__ = "9.9"
        torch.distributed = types.ModuleType("torch.distributed")
        if options:
            torch.distributed.ProcessGroupNCCL = types.SimpleNamespace(Options=options)
        sys.modules.update({"torch": torch, "torch.distributed": torch.distributed})
        self.addCleanup(lambda: [sys.modules.pop(name, None) for name in ("torch", "torch.distributed")])

    def test_options_carry_the_number(self):
        self.with_torch(lambda: types.SimpleNamespace(config=types.SimpleNamespace(traffic_class=None)))
        self.assertEqual(dlcp.options(budget=0.01).config.traffic_class, dlcp.traffic_class(0.01))

    def test_an_old_pytorch_or_one_without_nccl_is_named(self):
        self.with_torch(lambda: types.SimpleNamespace(config=types.SimpleNamespace()))
        with self.assertRaisesRegex(RuntimeError, "PyTorch 9.9 does not pass trafficClass.*2.8 or later"):
            dlcp.options(budget=0.01)
        self.with_torch(None)
        with self.assertRaisesRegex(RuntimeError, "built without NCCL"):
            dlcp.options(budget=0.01)


class Run(unittest.TestCase):
    def test_a_command_gets_the_variables_and_gives_its_exit_code(self):
        done = run("run", "--", "sh", "-c", "echo $NCCL_NET $NCCL_NET_PLUGIN; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, "DLCP dlcp\n"))

    def test_env_is_for_a_shell(self):
        done = subprocess.run(["sh", "-c", f'eval "$({sys.executable} -m dlcp env)"; echo $NCCL_NET; echo $LD_LIBRARY_PATH'],
                              capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": FOLDER.name})
        self.assertEqual(done.stdout.splitlines()[0], "DLCP")
        self.assertTrue(done.stdout.splitlines()[1].startswith(os.path.dirname(dlcp.plugin_path())))

    def test_a_package_without_its_plugin_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(SOURCE, pathlib.Path(folder, "dlcp"), ignore=shutil.ignore_patterns("__pycache__"))
            done = run("run", "--", "true", PYTHONPATH=folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("libnccl-net-dlcp.so is not there", done.stderr)

    def test_wrong_usage_is_named(self):
        for arguments, code, said in ((["run"], 2, "run needs a command"), (["rnu", "x"], 2, "no verb 'rnu'"),
                                      ([], 2, "a verb is needed"), (["env", "x"], 2, "seen: x"),
                                      (["run", "--", "/no/such"], 127, "/no/such: no such command"),
                                      (["run", "--", "/etc/passwd"], 126, "Permission denied")):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, code)
                self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
