#!/usr/bin/env python3
"""`dlcp bench` under launchers: Open MPI's mpirun (always in CI) and PyTorch's torchrun if they are installed, and the
environment of Slurm's srun everywhere. `scripts/fresh debian-13 --packages --only launchers` has a torchrun.

launchers_test.py DLCP PLUGIN"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import unittest

DLCP, PLUGIN = "dlcp", "libnccl-net-dlcp.so"
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_", "SLURM_"))}
# Over loopback, because all ranks are on this host.
CLEAN.update(NCCL_SOCKET_IFNAME="lo")


def bench():
    return [DLCP, "bench", "--plugin", PLUGIN, "--mode", "bw", "--size", "64k", "--seconds", "0.5", "--json"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def torchrun():
    """The command of a torchrun that runs a no-op program, or None: Debian 12's prints its usage and fails."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torchrun.py")
    for python in ("python3", "/usr/bin/python3"):
        command = [python, script]
        nothing = [*command, "--nproc_per_node", "1", "--master_port", str(free_port()), "--no_python", "true"]
        if subprocess.run(nothing, env=CLEAN, capture_output=True, check=False).returncode == 0:
            return command
    return None


def forward(source, to, quiet=None):
    """Copies a stream; with `quiet`, only what is followed by that many seconds of silence."""
    source.settimeout(quiet)
    held, open_ = b"", True
    while open_:
        try:
            more = source.recv(65536)
            held, open_ = held + more, more != b""
            if quiet and open_:
                continue
        except TimeoutError:
            pass
        except OSError:
            open_ = False
        try:
            to.sendall(held)
        except OSError:
            return
        held = b""
    with contextlib.suppress(OSError):
        to.shutdown(socket.SHUT_WR)


class Launchers(unittest.TestCase):
    def run_all(self, commands, environments):
        """Starts all ranks at once; returns exit codes, stdouts, stderrs."""
        processes = [subprocess.Popen(command, env={**CLEAN, **more}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                     for command, more in zip(commands, environments)]
        ends = [process.communicate(timeout=90) for process in processes]
        return [process.returncode for process in processes], [end[0] for end in ends], [end[1] for end in ends]

    def passed(self, done):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('"bytes_wrong": 0', done.stdout)
        self.assertIn('"ranks": 2', done.stdout)

    @unittest.skipUnless(shutil.which("mpirun") or os.environ.get("CI") == "true", "no mpirun (Debian: openmpi-bin)")
    def test_open_mpi(self):
        self.passed(subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", *bench()], env=CLEAN,
                                   capture_output=True, text=True, timeout=120, check=False))

    def test_torchrun(self):
        command = torchrun()
        if command is None:
            self.skipTest("no torchrun that runs (Debian 13: python3-torch; that of Debian 12 does not)")
        self.passed(subprocess.run(
            [*command, "--nproc_per_node", "2", "--master_port", str(free_port()), "--no_python", *bench()], env=CLEAN,
            capture_output=True, text=True, timeout=120, check=False))

    def test_torchruns_own_store_at_its_port(self):
        with socket.socket() as store:  # as torchrun's agent holds it while the job runs
            store.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            store.bind(("127.0.0.1", 0))
            store.listen()
            common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.getsockname()[1]),
                      "TORCHELASTIC_USE_AGENT_STORE": "True"}
            codes, out, errors = self.run_all([bench(), bench()], [{**common, "RANK": rank} for rank in "01"])
        self.assertEqual(codes, [0, 0], errors)
        self.assertIn('"ranks": 2', out[0])

    def test_a_proxy_that_accepts_before_rank_0_listens(self):
        with socket.socket() as proxy:
            proxy.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            proxy.bind(("127.0.0.1", 0))
            proxy.listen()
            common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(proxy.getsockname()[1])}
            first = subprocess.Popen(bench(), env={**CLEAN, **common, "RANK": "1"}, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            proxy.accept()[0].close()
        codes, out, errors = self.run_all([bench()], [{**common, "RANK": "0"}])
        self.assertEqual((first.wait(timeout=90), codes), (0, [0]), (first.stderr.read(), errors))
        first.stdout.close()
        first.stderr.close()
        self.assertIn('"ranks": 2', out[0])

    def test_frames_of_two_cases_that_arrive_together(self):
        port = free_port()
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen()

            def relay():
                for _ in range(200):
                    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)) as there:
                        here = listener.accept()[0]
                        back = threading.Thread(target=forward, args=(there, here))
                        back.start()
                        # The result of a case and the first frame of the next one are less than a second apart.
                        forward(here, there, quiet=1)
                        back.join()
                        here.close()
                        return
                    time.sleep(0.05)

            thread = threading.Thread(target=relay)
            thread.start()
            common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
            command = [DLCP, "bench", "--plugin", PLUGIN, "--mode", "lat", "--size", "64,4k", "--iterations", "10", "--warmup",
                       "0", "--timeout", "15", "--json"]
            codes, out, errors = self.run_all([command, command], [
                {**common, "RANK": "0", "MASTER_PORT": str(port)},
                {**common, "RANK": "1", "MASTER_PORT": str(listener.getsockname()[1])}])
            thread.join()
        self.assertEqual(codes, [0, 0], errors)
        self.assertEqual(out[0].count('"bytes_wrong": 0'), 2)

    def test_srun_from_a_login_node(self):
        common = {"SLURM_NTASKS": "2", "SLURM_LAUNCH_NODE_IPADDR": "192.0.2.77", "SLURM_STEP_NODELIST": "localhost"}
        codes, out, errors = self.run_all([bench(), bench()], [{**common, "SLURM_PROCID": rank} for rank in "01"])
        self.assertEqual(codes, [0, 0], errors)
        self.assertIn('"ranks": 2', out[0])

    def test_a_rank_with_other_options_ends_every_rank_with_the_reason(self):
        common = {"WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        other = [*bench(), "--seed", "7"]
        codes, _, errors = self.run_all([bench(), other, bench(), bench()],
                                      [{**common, "RANK": rank} for rank in "0123"])
        self.assertEqual(codes, [2, 2, 2, 2], errors)
        for error in errors:
            self.assertEqual(len(error.splitlines()), 1, error)
            self.assertIn("rank 1 has '--seed 7', rank 0 has '--seed 1'", error)

    def test_missing_ranks_are_named(self):
        common = {"WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        command = [*bench(), "--timeout", "2"]
        codes, _, errors = self.run_all([command, command], [{**common, "RANK": rank} for rank in "02"])
        self.assertEqual(codes[0], 4)
        self.assertIn("ranks 1, 3 of 4 did not connect", errors[0])
        self.assertIn("ranks 1, 3 of 4 did not connect", errors[1])
        self.assertNotEqual(codes[1], 0)


if __name__ == "__main__":
    DLCP, PLUGIN = map(os.path.abspath, sys.argv[1:3])
    del sys.argv[1:3]
    unittest.main()
