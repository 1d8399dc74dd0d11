"""scripts/setup on a simulated machine: its calls of apt, and its messages when it may not call it."""

import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[3] / "scripts" / "setup"
TOOLS = ("bash", "awk", "sed", "env", "cat", "true", "cp")


class Machine:
    """A PATH with only the named commands; apt logs its calls and installs an empty command per package."""

    def __init__(self, directory, user_id, archive, commands=(), sudo=False, apt=True):
        self.bin = pathlib.Path(directory, "bin")
        self.log = pathlib.Path(directory, "log")
        self.bin.mkdir()
        self.log.touch()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.command("id", f"echo {user_id}")
        for name in commands:
            self.command(name, "exit 0")
        if apt:
            known = " ".join(archive)
            self.command("apt-cache", f'shift\nfor p in "$@"; do echo "$p:"; case " {known} " in *" $p "*) '
                         'echo "  Candidate: 1" ;; *) echo "  Candidate: (none)" ;; esac; done')
            self.command("apt-get", f'echo "$@" >> {self.log}\nfor p in "$@"; do '
                         f'case $p in linux-tools-common) p=bpftool ;; iproute2) p=ip ;; iputils-ping) p=ping ;; nftables) p=nft ;; esac\n'
                         f'case $p in -*|install|update|*=*) ;; *) cp {self.bin}/id {self.bin}/$p ;; esac; done')
        if sudo:
            self.command("sudo", '[ "$1" = -n ] && shift\nexec "$@"')

    def command(self, name, body):
        path = self.bin / name
        path.write_text(f"#!{shutil.which('bash')}\n{body}\n")
        path.chmod(0o755)

    def setup(self, *arguments):
        done = subprocess.run([shutil.which("bash"), SETUP, *arguments], env={"PATH": str(self.bin)},
                              capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout + done.stderr, self.log.read_text()


DEBIAN = ("iproute2", "ethtool", "python3", "nftables", "clang", "libbpf-dev", "bpftool", "jq", "iputils-ping")
UBUNTU = tuple(p for p in DEBIAN if p != "bpftool") + ("linux-tools-common", "linux-tools-generic")


class Setup(unittest.TestCase):
    def machine(self, *arguments, **options):
        directory = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, directory)
        return Machine(directory, *arguments, **options)

    def test_packages_need_the_program_that_unpacks_rpm_files(self):
        code, output, _ = self.machine(0, ()).setup("--check", "package")
        self.assertNotEqual(code, 0)
        self.assertIn("cpio", output)

    def test_root_installs_what_is_missing_and_nothing_else(self):
        code, output, log = self.machine(0, DEBIAN, ["ethtool", "jq"]).setup("net")
        self.assertEqual(code, 0, output)
        self.assertIn(" python3", log)
        self.assertNotIn(" jq", log)
        self.assertNotIn(" ethtool", log)

    def test_required_and_optional_packages_are_installed_separately(self):
        code, output, _ = self.machine(1000, DEBIAN).setup("net")
        self.assertEqual(code, 3)
        required, optional = output.split("optional packages")
        self.assertRegex(required, r"install -y --no-install-recommends .*python3\n")
        self.assertRegex(optional, r"install -y --no-install-recommends .*jq")
        self.assertNotIn("python3", optional)
        self.assertNotIn("jq", required)

    def test_an_old_cmake_is_named_instead_of_an_error_of_the_presets(self):
        # The optional package is missing, and is in the archive (jq) or not.
        for version, package, expected in (("3.22.1", "jq", 4), ("3.22.1", "other", 4), ("3.25.0", "jq", 0), ("4.0.3", "other", 0)):
            machine = self.machine(1, DEBIAN)
            machine.command("cmake", f"echo cmake version {version}")
            setup = SETUP.read_text()
            needs = setup.index("cat <<'END'\n") + len("cat <<'END'\n")
            only = machine.bin / "setup"
            two = f"build optional cmd=nothing {package}\nbuild required cmd=cmake cmake\n"
            only.write_text(setup[:needs] + two + setup[setup.index("END\n}"):])
            done = subprocess.run([shutil.which("bash"), only, "build"], env={"PATH": str(machine.bin)}, check=False,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, expected, done.stderr)

    def test_unavailable_optional_packages_do_not_stop_it(self):
        machine = self.machine(0, DEBIAN)
        machine.command("apt-get", f'case "$*" in *jq*) exit 100 ;; esac\necho "$@" >> {machine.log}\nfor p in '
                        f'"$@"; do case $p in iproute2) p=ip ;; -*|install|update|*=*) continue ;; esac; '
                        f'cp {machine.bin}/id {machine.bin}/$p; done')
        code, output, _ = machine.setup("net")
        self.assertEqual(code, 0, output)
        self.assertIn("tests and benchmarks that need them are skipped", output)

    def test_a_terminal_gets_one_moving_line_and_a_pipe_none(self):
        machine = self.machine(0, DEBIAN)
        machine.command("apt-get", 'case "$1" in install) echo "pmstatus:ethtool:42.5000:Unpacking ethtool"; exit 100 ;; esac')
        _, output, _ = machine.setup("net")
        self.assertNotIn("Unpacking", output)
        leader, follower = pty.openpty()
        with subprocess.Popen([shutil.which("bash"), SETUP, "net"], env={"PATH": str(machine.bin)}, stdin=subprocess.DEVNULL,
                              stdout=follower, stderr=follower) as process:
            process.wait(60)
        os.close(follower)
        shown = os.read(leader, 65536).decode()
        os.close(leader)
        self.assertIn("\r\x1b[Ksetup: required packages, 42%: Unpacking ethtool", shown)

    def test_a_package_of_another_name_is_found(self):
        if os.path.exists("/usr/sbin/bpftool"):
            self.skipTest("this machine has bpftool where every PATH finds it")
        _, _, log = self.machine(0, UBUNTU).setup("net")
        self.assertIn("linux-tools-generic", log)

    def test_sudo_is_used_if_it_needs_no_password(self):
        code, output, log = self.machine(1000, DEBIAN, sudo=True).setup("net")
        self.assertEqual(code, 0, output)
        self.assertIn("install", log)

    def test_without_permission_the_exact_command_is_printed_and_nothing_runs(self):
        code, output, log = self.machine(1000, DEBIAN, ["ethtool"]).setup("net")
        self.assertEqual(code, 3)
        self.assertEqual(log, "")
        self.assertRegex(output, r"apt-get update && apt-get install -y --no-install-recommends .*python3")

    def test_check_installs_nothing_even_as_root(self):
        code, output, log = self.machine(0, DEBIAN).setup("--check", "net")
        self.assertEqual((code, log), (3, ""))
        self.assertIn("--check installs nothing", output)
        self.assertNotIn("may not", output)

    def test_an_unavailable_required_package_is_a_failure(self):
        machine = self.machine(0, DEBIAN)
        machine.command("apt-get", "exit 100")
        code, output, _ = machine.setup("net")
        self.assertEqual(code, 4, output)

    def test_on_other_systems_the_required_packages_are_named(self):
        code, output, _ = self.machine(0, (), apt=False).setup("net")
        self.assertEqual(code, 5)
        self.assertIn("python3", output)

    def test_a_wrong_word_is_a_usage_error(self):
        self.assertEqual(self.machine(0, DEBIAN).setup("everything")[0], 2)


if __name__ == "__main__":
    unittest.main()
