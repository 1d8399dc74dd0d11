"""Where the kernel permits namespaces but `ip netns` cannot enter one, as in a chroot, tests that need a network are
skipped with the reason, and fail only in CI, which must run everything.

Exits with 77 (skipped) if not even a mount namespace is permitted."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import rig  # noqa: E402

# If the root is not a mount point, `mount --make-rslave /` fails, which is the first action of `ip netns exec`.
ENTER = """
set -e
root=$1; shift
for entry in /*; do
  name=$root$entry
  if [ -L "$entry" ]; then cp -d "$entry" "$name"; continue; fi
  [ -d "$entry" ] || continue
  mkdir -p "$name"
  [ "$entry" = /tmp ] || mount --bind "$entry" "$name"
done
mkdir -p "$root$REPOSITORY"
mountpoint -q "$root$REPOSITORY" || mount --bind "$REPOSITORY" "$root$REPOSITORY"
exec chroot "$root" "$@"
"""


def in_chroot(*command, ci=None):
    root = tempfile.mkdtemp()
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    environment["REPOSITORY"] = str(ROOT)
    if ci:
        environment["CI"] = ci
    try:
        return subprocess.run(["unshare", "--mount", "bash", "-c", ENTER, "bash", root, *map(str, command)],
                              capture_output=True, text=True, check=False, env=environment, timeout=60)
    finally:
        # The mounts ended with their namespace; empty folders and links are left.
        shutil.rmtree(root)


class Denied(unittest.TestCase):
    TEST = ROOT / "test" / "scripts" / "networks" / "test_netns.py"

    def test_the_check_gives_the_reason_and_leaves_nothing(self):
        done = in_chroot(rig.NETNS, "check")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"netns: this machine .* cannot build networks of namespaces \(.*mount.*\)")
        left = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(left, r"dlcp\d+x")

    def test_a_test_that_needs_a_network_is_skipped_with_the_reason(self):
        done = in_chroot(sys.executable, self.TEST)
        self.assertEqual((done.returncode, done.stderr), (77, ""))
        self.assertRegex(done.stdout, "^skipped: this machine .*mount")

    def test_in_ci_the_same_test_fails_with_the_reason(self):
        done = in_chroot(sys.executable, self.TEST, ci="true")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "^failed: .*mount")


if __name__ == "__main__":
    entered = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    if entered.returncode:
        rig.skip(entered.stderr.strip())
    unittest.main()
