"""dlcp-aggregator: sums over real sockets, workers that return from another port, and messages about wrong options.

  aggregator_test.py BINARY"""

import contextlib
import json
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

BINARY = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=False, timeout=60)


def free_ports(count):
    """The first of `count` consecutive unused ports."""
    for port in range(23456, 30000, count):
        sockets = [socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) for _ in range(count)]
        try:
            for i, each in enumerate(sockets):
                each.bind(("::", port + i))
            return port
        except OSError:
            continue
        finally:
            for each in sockets:
                each.close()
    raise AssertionError("no free ports")


@contextlib.contextmanager
def served(*arguments):
    """An aggregator of two workers, and its first port. Once it has ended, its `counts` are its counters."""
    port = free_ports(2)
    with subprocess.Popen([BINARY, "serve", "--workers", "2", "--port", str(port), "--values", "64", "--json", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            if "ready" not in (first := server.stderr.readline()):
                raise AssertionError(first)
            yield server, port
        finally:
            server.send_signal(signal.SIGTERM)
            said = server.communicate(timeout=20)[0]
    if server.returncode != 0:
        raise AssertionError(f"exit code {server.returncode}")
    server.counts = json.loads(said)


def packet(serial, value, exponent=0):
    return struct.pack("!BBIHbb64i", 0x11, 0, serial, 0, exponent, 0, *[value] * 64)


class Worker:
    def __init__(self, test, port, to="127.0.0.1", own=None):
        self.socket = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM)
        test.addCleanup(self.socket.close)
        self.socket.settimeout(20)
        if own:
            self.socket.bind((own, 0))
        self.socket.connect((to, port))

    def send(self, serial, value, exponent=0):
        self.socket.send(packet(serial, value, exponent))

    def answer(self):
        return self.socket.recv(2048)


class Aggregator(unittest.TestCase):
    def test_a_check_gives_correct_sums_with_losses_too(self):
        for drop in ("0", "1%"):
            done = run("check", "--workers", "3", "--port", str(free_ports(3)), "--slots", "32", "--drop", drop,
                       "--elements", "20000", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            said = json.loads(done.stdout)
            self.assertEqual((said["elements_wrong"], said["workers"]), (0, 3))
            if drop != "0":
                self.assertGreater(said["repeated"], 0)

    def test_losses_delay_no_worker_for_long_even_in_a_single_burst(self):
        def stall(elements, drop):
            done = run("check", "--workers", "4", "--port", str(free_ports(4)), "--slots", "128", "--drop", drop,
                       "--elements", elements, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            said = json.loads(done.stdout)
            self.assertEqual(said["elements_wrong"], 0)
            return said["longest_stall_ms"]

        # On a busy machine all workers wait at times: compare the shortest of some tries with the shortest without losses.
        for elements in ("30000", "200000"):
            clean, lossy = [stall(elements, "0")], [stall(elements, "1%")]
            while len(lossy) < 20 and min(lossy) > 10:
                clean.append(stall(elements, "0"))
                lossy.append(stall(elements, "1%"))
            self.assertLessEqual(min(lossy), 10 + (min(clean) if len(lossy) == 20 else 0))

    def test_it_answers_workers_at_their_address_and_follows_a_change(self):
        with served() as (server, port):
            first, second = Worker(self, port), Worker(self, port + 1)
            first.send(0, 5)
            second.send(0, -7, 3)
            self.assertEqual(first.answer(), packet(0, -2, 3))
            self.assertEqual(second.answer(), packet(0, -2, 3))
            first.send(0, 5)
            self.assertEqual(first.answer(), packet(0, -2, 3))  # again for the worker that asks
            again = Worker(self, port)  # another port: a restarted worker, and a new job with it
            again.send(0, 1)
            again.send(0, 1)
            second.send(0, 2)
            self.assertEqual(again.answer(), packet(0, 3))
            self.assertEqual(second.answer(), packet(0, 3))
            second.socket.send(b"no packet")
        self.assertEqual((server.counts["sums"], server.counts["restarts"]), (2, 1))
        self.assertEqual((server.counts["repeated"], server.counts["strangers"]), (2, 0))

    def test_the_next_job_may_run_on_other_hosts_and_ignored_packets_are_explained(self):
        with served("--idle", "9s", "--keep-for", "1500ms") as (server, port):
            started = time.monotonic()
            for own in (("127.0.0.2", "127.0.0.3"), ("127.0.0.3", "127.0.0.2")):
                first, second = (Worker(self, port + i, own=own[i]) for i in range(2))
                end = time.monotonic() + 5  # as long as ranks wait at set-up
                first.socket.settimeout(0.1)
                while time.monotonic() < end:
                    first.send(0, 5)
                    second.send(0, -7)
                    try:
                        self.assertEqual(first.answer(), packet(0, -2))
                        break
                    except TimeoutError:
                        pass
                else:
                    self.fail(f"no answer for {own}")
            self.assertGreaterEqual(time.monotonic() - started, 1.5)
            ignored = sorted(server.stderr.readline() for _ in range(2))  # in the order of arrival
            self.assertIn("worker 0 is at 127.0.0.2; packets from 127.0.0.3 are ignored until it has been silent for 1.5 s "
                          "(--keep-for)", ignored[0])
            self.assertIn("worker 1 is at 127.0.0.3; packets from 127.0.0.2 are ignored", ignored[1])
            first.socket.send(b"\x13" + packet(0, 5)[1:] + bytes(192 * 4))
            self.assertIn("it has 256 numbers, but --values is 64", server.stderr.readline())

    def test_a_job_that_pauses_for_a_checkpoint_keeps_its_places(self):
        with served("--idle", "9s") as (server, port):
            workers = [Worker(self, port + i) for i in range(2)]
            for value in (5, 6):
                for worker in workers:
                    worker.send(value, value)
                for worker in workers:
                    self.assertEqual(worker.answer(), packet(value, 2 * value))
                if value == 5:
                    time.sleep(4)
                    Worker(self, port, own="127.0.0.3").send(0, 1)
            self.assertIn("silent for 120 s", server.stderr.readline())

    def test_a_packet_that_cannot_be_added_identifies_no_worker(self):
        unsound = b"\x13" + packet(0, 5)[1:] + bytes(192 * 4)
        with served("--idle", "9s") as (server, port):
            Worker(self, port, own="127.0.0.2").socket.send(unsound)
            self.assertIn("it has 256 numbers, but --values is 64", server.stderr.readline())
            first, second = Worker(self, port), Worker(self, port + 1)
            first.send(0, 5)
            Worker(self, port).socket.send(unsound)  # would be a restart from another port
            second.send(0, -7)
            self.assertEqual(first.answer(), packet(0, -2))
        self.assertEqual([server.counts[name] for name in ("strangers", "restarts", "unsound", "sums")], [0, 0, 2, 1])

    def test_it_answers_from_the_address_that_a_worker_sends_to(self):
        with served("--idle", "2s") as (_, port):
            first, second = Worker(self, port, "127.0.0.5"), Worker(self, port + 1, "::1")
            first.send(0, 5)
            second.send(0, -7)
            self.assertEqual(first.answer(), packet(0, -2))
            self.assertEqual(second.answer(), packet(0, -2))

    def test_an_impossible_value_is_named_with_a_remedy(self):
        for arguments, status, words in (
                (("serve", "--workers", "33"), 2, ("33", "1..32")),
                (("serve", "--values", "128"), 2, ("128",)),
                (("serve", "--port", "65535"), 2, ("65536", "--port")),
                (("serve", "--bogus"), 2, ("--bogus",))):
            done = run(*arguments)
            self.assertEqual(done.returncode, status, done.stderr)
            for word in words:
                self.assertIn(word, done.stderr)
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as taken:
            taken.bind(("::", 0))
            port = taken.getsockname()[1]
            done = run("serve", "--workers", "1", "--port", str(port))
            self.assertEqual(done.returncode, 3)
            self.assertIn(f"UDP port {port}", done.stderr)

    def test_it_ends_when_requested(self):
        done = run("serve", "--port", str(free_ports(2)), "--idle", "200ms")
        self.assertEqual(done.returncode, 4, done.stderr)


if __name__ == "__main__":
    unittest.main()
