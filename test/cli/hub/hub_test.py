"""dlcp-hub: its messages about wrong options, its metrics, and its end.

  hub_test.py BINARY DLCP"""

import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BINARY, DLCP = sys.argv.pop(1), sys.argv.pop(1)
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("DLCP_", "NCCL_"))}
TOKEN = "00112233445566778899aabbccddeeff"
CODE = pathlib.Path(BINARY).read_bytes()
# With a sanitizer's runtime mlockall() succeeds but has no effect, because its shadow memory must not be locked.
SANITIZED = any(mark in CODE for mark in (b"__asan_init", b"__tsan_init"))
# UBSan's check of virtual calls opens a pipe. If that fails, it reports an error that does not exist and ends the hub.
NEEDS_FILES = b"__ubsan_vptr_type_cache" in CODE
IPV6 = pathlib.Path("/proc/net/if_inet6")


def run(*arguments, **environment):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=False, timeout=60,
                          env=ENVIRONMENT | environment)


class Hub:
    def __init__(self, test, *arguments, listen="127.0.0.1:0"):
        self.process = subprocess.Popen([BINARY, "serve", "--listen", listen, *arguments], text=True,
                                        stderr=subprocess.PIPE, env=ENVIRONMENT)
        test.addCleanup(self.end)
        self.lines = []
        while not self.lines or "ready at" not in self.lines[-1]:
            line = self.process.stderr.readline()
            test.assertTrue(line, self.lines)
            self.lines.append(line)
        self.port = int(self.lines[-1].rsplit(":", 1)[1])

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


class Words(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, words, *arguments, code=2):
        done = run("serve", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(words, done.stderr)

    def test_help_names_every_option(self):
        done = run("serve", "--help")
        self.assertEqual(done.returncode, 0)
        for option in ("--listen", "--token-file", "--memory", "--jobs", "--cpus", "--lock-memory", "--metrics"):
            self.assertIn(option, done.stdout)

    def test_invalid_options_are_refused(self):
        self.refused("no interface of this host has that address", "--listen", "203.0.113.7")
        self.refused("--listen nowhere", "--listen", "nowhere")
        self.refused("--memory much", "--memory", "much")
        self.refused("--jobs", "--jobs", "0")
        self.refused("no-such", "--token-file", "no-such")
        tokens = self.folder / "tokens"
        tokens.write_text(f"a {TOKEN} rate=1\n", encoding="utf-8")
        self.refused(f"{tokens}:1: 'rate=1' is not a valid limit", "--token-file", str(tokens))

    def test_settings_and_ports_that_are_not_available_are_named(self):
        self.assertIn("DLCP_PATHS", run("serve", "--listen", "127.0.0.1:0", DLCP_PATHS="many").stderr)
        hub = Hub(self)
        self.refused(f"cannot listen on TCP port {hub.port} of 127.0.0.1", "--listen", f"127.0.0.1:{hub.port}", code=3)


class Serving(Words):
    def test_it_keeps_its_metrics_up_to_date(self):
        metrics, tokens = self.folder / "hub.prom", self.folder / "tokens"
        tokens.write_text(f"team-a {TOKEN} memory=1G\n", encoding="utf-8")
        hub = Hub(self, "--metrics", str(metrics), "--token-file", str(tokens))
        with socket.create_connection(("127.0.0.1", hub.port), 10) as stranger:
            stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
            while stranger.recv(4096):
                pass
        end = time.monotonic() + 20
        while not metrics.exists() or 'refused_total{reason="stranger"} 1' not in metrics.read_text(encoding="utf-8"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        self.assertIn("refused a connection from 127.0.0.1: ", hub.process.stderr.readline())
        text = metrics.read_text(encoding="utf-8")
        self.assertIn('dlcp_hub_jobs{tenant="team-a"} 0\n', text)
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) dlcp_hub_\w+ .+|dlcp_hub_\w+(\{\w+="[\w-]+"\})? \d+)$')
        self.assertEqual(len(re.findall("^# TYPE", text, re.MULTILINE)), len(re.findall("^# HELP", text, re.MULTILINE)))

    def test_metrics_that_cannot_be_written_are_reported(self):
        self.refused("--metrics: cannot write '/no/such/folder/x'", "--listen", "127.0.0.1:0", "--metrics",
                     "/no/such/folder/x")
        place, away = self.folder / "place", self.folder / "away"
        place.mkdir()
        hub = Hub(self, "--metrics", str(place / "x"))
        place.rename(away)
        self.assertIn(f"--metrics: cannot write '{place}/x'", hub.process.stderr.readline())
        away.rename(place)
        (place / "x").unlink()
        end = time.monotonic() + 20
        while not (place / "x").exists():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)
        hub.process.send_signal(signal.SIGTERM)
        self.assertEqual(hub.process.wait(20), 0)
        self.assertNotIn("cannot write", hub.process.stderr.read())  # an error is printed once

    @unittest.skipIf(NEEDS_FILES, "UBSan's runtime needs file descriptors too")
    def test_at_its_limit_of_open_files_it_says_so_once_and_waits(self):
        hub = Hub(self)
        proc = pathlib.Path("/proc", str(hub.process.pid))

        def ticks():
            return sum(map(int, (proc / "stat").read_text(encoding="utf-8").rsplit(") ", 1)[1].split()[11:13]))
        before = resource.prlimit(hub.process.pid, resource.RLIMIT_NOFILE)
        open_files = len(list((proc / "fd").iterdir()))
        resource.prlimit(hub.process.pid, resource.RLIMIT_NOFILE, (open_files + 2, before[1]))
        callers = [socket.create_connection(("127.0.0.1", hub.port), 10) for _ in range(10)]
        for caller in callers:
            self.addCleanup(caller.close)
        self.assertIn("cannot accept connections of ranks now: Too many open files; raise the limit",
                      hub.process.stderr.readline())
        used = ticks()
        time.sleep(1)
        self.assertLess(ticks() - used, os.sysconf("SC_CLK_TCK") / 10)
        resource.prlimit(hub.process.pid, resource.RLIMIT_NOFILE, before)
        for caller in callers:
            self.assertTrue(caller.recv(1))  # the challenge: all are accepted now
        hub.process.send_signal(signal.SIGTERM)
        self.assertEqual(hub.process.wait(20), 0)
        self.assertNotIn("cannot accept", hub.process.stderr.read())

    @unittest.skipUnless(pathlib.Path("/proc/net/tcp").exists(), "the test reads TCP's timers there")
    def test_an_idle_connection_is_probed_each_minute(self):
        hub = Hub(self)
        with socket.create_connection(("127.0.0.1", hub.port), 10) as caller:
            self.assertTrue(caller.recv(1))
            address = f"0100007F:{hub.port:04X}"
            lines = map(str.split, pathlib.Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines())
            (timer,) = [line[5] for line in lines if line[1] == address and line[3] == "01"]
        self.assertEqual(timer[:3], "02:")  # keep-alive
        self.assertLessEqual(int(timer[3:], 16) / os.sysconf("SC_CLK_TCK"), 60)

    def calls(self, hub, count):
        """That many connections, made while the hub is stopped."""
        hub.process.send_signal(signal.SIGSTOP)
        callers = [socket.create_connection(("127.0.0.1", hub.port), 10) for _ in range(count)]
        for caller in callers:
            self.addCleanup(caller.close)
        hub.process.send_signal(signal.SIGCONT)
        return callers  # with a timeout of 10 s

    def test_ranks_that_connect_at_the_same_time_are_all_kept(self):
        for caller in self.calls(Hub(self), 200):
            self.assertGreater(len(caller.recv(4096)), 8)  # the challenge
            caller.settimeout(0.001)
            self.assertRaises(TimeoutError, caller.recv, 1)  # still open

    def test_idle_connections_do_not_keep_others_out(self):
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, limit[1]))
        try:
            hub = Hub(self)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limit)
        idle = self.calls(hub, 128)
        for caller in idle:
            self.assertGreater(len(caller.recv(4096)), 8)
        begun = time.monotonic()
        with socket.create_connection(("127.0.0.1", hub.port), 10) as rank:
            rank.settimeout(10)
            self.assertGreater(len(rank.recv(4096)), 8)
        self.assertLess(time.monotonic() - begun, 4)  # an idle connection has 5 s while there is room
        self.assertRegex(hub.process.stderr.readline(), r"closed \d+ connections? without a request for 0\.5 s")
        self.assertEqual(idle[0].recv(1), b"")

    def test_a_signal_ends_it_if_it_has_no_jobs(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            hub = Hub(self)
            hub.process.send_signal(number)
            self.assertEqual(hub.process.wait(20), 0)

    def test_processors_can_be_chosen(self):
        usable = list(map(str, sorted(os.sched_getaffinity(0))))
        Hub(self, "--cpus", usable[0])
        Hub(self, "--cpus", ",".join(usable))
        self.refused("--cpus names processors", "--listen", "127.0.0.1:0", "--cpus", "1000", code=3)
        self.refused("cannot use: 1000", "--listen", "127.0.0.1:0", "--cpus", f"{usable[0]},1000", code=3)
        self.refused("cannot use: 5000", "--listen", "127.0.0.1:0", "--cpus", f"{usable[0]},5000", code=3)
        self.refused("twice", "--listen", "127.0.0.1:0", "--cpus", f"{usable[0]},{usable[0]}")

    @unittest.skipIf(SANITIZED, "a sanitizer's mlockall() locks nothing")
    def test_its_memory_is_locked_if_permitted(self):
        if os.geteuid() != 0 and resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != resource.RLIM_INFINITY:
            self.refused("--lock-memory failed", "--listen", "127.0.0.1:0", "--lock-memory", code=3)
            return
        if os.geteuid() == 0:  # without CAP_IPC_LOCK the usual limit of 8 MiB counts
            done = subprocess.run(["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "prlimit",
                                   f"--memlock={8 << 20}:{8 << 20}", BINARY, "serve", "--listen", "127.0.0.1:0",
                                   "--lock-memory"], capture_output=True, text=True, check=False, timeout=60,
                                  env=ENVIRONMENT)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("--lock-memory failed; the limit must exceed --memory", done.stderr)
        hub = Hub(self, "--lock-memory")
        status = pathlib.Path(f"/proc/{hub.process.pid}/status").read_text(encoding="utf-8")
        self.assertGreater(int(re.search(r"VmLck:\s+(\d+) kB", status)[1]), 1000)


class Jobs(unittest.TestCase):
    @staticmethod
    def begin(hubs, *arguments, **environment):
        return subprocess.Popen([DLCP, "bench", "--mode", "allreduce", "--algo", "hub", "--hubs", hubs, "--ranks", "3",
                                 "--json", *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=ENVIRONMENT | environment)

    def end(self, job):
        out, err = job.communicate(timeout=90)
        self.assertTrue(out, err)
        return json.loads(out), job.returncode

    def test_a_killed_rank_ends_its_own_job_and_no_other(self):
        hub = Hub(self)
        place = f"127.0.0.1:{hub.port}"
        other = self.begin(place, "--seconds", "4", "--seed", "2")
        dies = self.begin(place, "--seconds", "30", "--kill-rank", "1", "--kill-after-ms", "300", "--each-finds-out")
        said, code = self.end(dies)
        self.assertEqual(code, 0, said)  # every other rank has reported an error
        said, code = self.end(other)
        self.assertEqual((code, said["elements_wrong"], said["ranks_identical"]), (0, 0, True), said)
        hub.process.send_signal(signal.SIGTERM)
        self.assertEqual(hub.process.wait(20), 0)
        self.assertIn("rank 1 has closed its connection unexpectedly", hub.process.stderr.read())

    def test_strangers_do_not_hide_the_refusal_of_a_rank(self):
        hub = Hub(self, "--memory", "1M")
        for _ in range(25):
            with socket.create_connection(("127.0.0.1", hub.port), 10) as stranger:
                stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
                while stranger.recv(4096):
                    pass
        self.begin(f"127.0.0.1:{hub.port}", "--rounds", "3").communicate(timeout=90)
        hub.process.send_signal(signal.SIGTERM)
        self.assertEqual(hub.process.wait(20), 0)
        self.assertRegex(hub.process.stderr.read(), r"rank \d of group \w+ refused, at 127.0.0.1: full: the job asks")

    def test_a_tenant_gets_no_more_than_its_rate(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        tokens, own = pathlib.Path(folder.name, "tokens"), pathlib.Path(folder.name, "own")
        tokens.write_text(f"slow {TOKEN} gbit=0.2\n", encoding="utf-8")
        own.write_text(TOKEN, encoding="utf-8")
        hub = Hub(self, "--token-file", str(tokens))
        job = self.begin(f"127.0.0.1:{hub.port}", "--rounds", "5", "--size", "256K", DLCP_HUB_TOKEN_FILE=str(own))
        said, code = self.end(job)
        self.assertEqual((code, said["elements_wrong"]), (0, 0), said)
        # Three ranks' 256 KiB at 25 MB/s, of which the bucket may hold 5 ms.
        self.assertGreater(said["p50_us"], 20_000)

    def test_tenants_have_their_rates_in_parallel(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        names, tokens = ("a", "b"), pathlib.Path(folder.name, "tokens")
        own = [pathlib.Path(folder.name, name) for name in names]
        for name, path in zip(names, own):
            path.write_text(TOKEN.replace("0", name), encoding="utf-8")
        tokens.write_text("".join(f"{name} {path.read_text(encoding='utf-8')} gbit=0.1\n"
                                  for name, path in zip(names, own)), encoding="utf-8")
        hub = Hub(self, "--token-file", str(tokens))

        def begin(path):
            return self.begin(f"127.0.0.1:{hub.port}", "--rounds", "12", "--size", "256K", DLCP_HUB_TOKEN_FILE=str(path))
        alone, code = self.end(begin(own[0]))
        self.assertEqual(code, 0, alone)
        for said, code in [self.end(job) for job in [begin(path) for path in own]]:
            self.assertEqual((code, said["elements_wrong"]), (0, 0), said)
            self.assertLess(said["p50_us"], 1.5 * alone["p50_us"])

    @unittest.skipUnless(IPV6.exists() and " lo" in IPV6.read_text(), "without ::1")
    def test_a_hub_with_an_ipv6_address_exchanges_data_over_ipv6(self):
        hub = Hub(self, listen="[::1]:0")
        job = self.begin(f"[::1]:{hub.port}", "--rounds", "3", "--size", "64K", NCCL_SOCKET_FAMILY="AF_INET6")
        said, code = self.end(job)
        self.assertEqual((code, said["elements_wrong"]), (0, 0), said)

    def test_hubs_started_by_the_benchmark_add_correctly(self):
        said, code = self.end(self.begin("2", "--rounds", "10", "--size", "64K", "--type", "bf16"))
        self.assertEqual((code, said["elements_wrong"], said["ranks_identical"], said["algo"]), (0, 0, True, "hub"))
        for key in ("relative_mse", "delivered_share_min", "p50_us", "p99_us", "reduce_gb_per_s"):
            self.assertIn(key, said)

    def test_invalid_hubs_are_refused(self):
        for hubs, words in (("0", "this program can start"), ("a:b", "'a:b' is not a hub")):
            job = self.begin(hubs)
            self.assertIn(words, job.communicate(timeout=60)[1])
            self.assertEqual(job.returncode, 2)


if __name__ == "__main__":
    unittest.main()
