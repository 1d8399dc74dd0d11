#!/usr/bin/env python3
"""`dlcp top` on a terminal: the contents of the screen at every size, and the restoration of the terminal.

top_test.py DLCP PLUGIN"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

DLCP, PLUGIN = "dlcp", "libnccl-net-dlcp.so"
RANKS = 2
ENTER, LEAVE = "\033[?1049h", "\033[?1049l"


class Screen:
    """The screen of a terminal, as far as `dlcp top` uses one; a line that is too long is an error, because it would wrap."""

    def __init__(self, rows, columns):
        self.rows, self.columns, self.lines, self.row = rows, columns, [""] * rows, 0

    def write(self, text):
        for word in re.split(r"(\033\[[?0-9]*[A-Za-z]|\r+\n)", text):
            if word == "\033[H":
                self.row = 0
            elif word.endswith("\n"):
                self.row += 1
                assert self.row < self.rows, f"scrolled: {text!r}"
            elif word == "\033[2K":
                self.lines[self.row] = ""
            elif word == "\033[J":
                self.lines[self.row:] = [""] * (self.rows - self.row)
            elif not word.startswith("\033"):
                self.lines[self.row] += word
                assert len(self.lines[self.row]) <= self.columns, f"wraps: {self.lines[self.row]!r}"


class Top:
    """`dlcp top` on a pseudo-terminal."""

    def __init__(self, rows, columns, *options, kind="xterm"):
        self.master, self.terminal = pty.openpty()
        self.size = (rows, columns)
        self.resize(rows, columns)
        self.before = termios.tcgetattr(self.terminal)
        self.text = ""
        self.process = subprocess.Popen([DLCP, "top", "--interval", "300ms", *options], stdin=self.terminal,
                                        stdout=self.terminal, start_new_session=True, env={**os.environ, "TERM": kind},
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def resize(self, rows, columns):
        self.size = (rows, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds):
        """Its output in that time."""
        text, end = "", time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                text += os.read(self.master, 65536).decode()
        self.text += text
        return text

    def shows(self, wanted, seconds=10):
        """The lines of the first frame that contains `wanted`; every frame until then must fit the screen."""
        text, end = "", time.monotonic() + seconds
        while time.monotonic() < end:
            text += self.read(0.1)
            frames = text.split("\033[H")[1:-1]  # the last may be incomplete
            for frame in frames:
                screen = Screen(*self.size)
                screen.write(frame)
                if any(re.search(wanted, line) for line in screen.lines):
                    return screen.lines
        raise AssertionError(f"{wanted} is not on the screen: {text!r}")

    def ended(self):
        status = self.process.wait(timeout=10)
        self.read(0.2)
        assert self.text.count(ENTER) == 1 and self.text.endswith(LEAVE), repr(self.text[-200:])
        assert termios.tcgetattr(self.terminal) == self.before, "the terminal was not restored"
        os.close(self.master)
        os.close(self.terminal)
        return status


class OnATerminal(unittest.TestCase):
    def test_a_process_that_cannot_be_read_is_named(self):
        top = Top(24, 80, "--pid", str(os.getpid()))
        top.shows(f"process {os.getpid()} does not use the plugin")
        top.press("q")
        self.assertEqual(top.ended(), 0)

    def test_a_dumb_terminal_gets_a_table(self):
        top = Top(24, 80, "--pid", str(os.getpid()), kind="dumb")  # whatever else runs on this machine
        self.assertEqual(top.process.wait(timeout=10), 3)
        said = top.read(0.2)
        self.assertEqual(said, "")
        os.close(top.master)
        os.close(top.terminal)

    def test_signals_restore_the_terminal(self):
        for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            top = Top(24, 80)
            top.shows("q quit")
            top.process.send_signal(end)
            self.assertEqual(top.ended(), 0)
        top = Top(24, 80)
        top.shows("q quit")
        top.press("\x1a")  # Ctrl-Z would leave the screen to the shell
        top.shows("q quit")
        top.press("\x03")
        self.assertEqual(top.ended(), 0)

    def test_a_running_job_at_every_size(self):
        with subprocess.Popen([DLCP, "bench", "--plugin", PLUGIN, "--mode", "ring", "--ranks", str(RANKS), "--size", "256K",
                               "--seconds", "60"], stdout=subprocess.DEVNULL) as job:
            try:
                top = Top(24, 80)
                rows = [line for line in top.shows(r"devices in use", 30) if re.search(r" dlcp$", line)]
                self.assertGreaterEqual(len(rows), RANKS)
                top.press("s")
                top.shows(r"s sort \(received\)")
                top.press("p")
                lines = top.shows(r"127\.0\.0\.1:\d+ > |\[::1\]:\d+ > |\d+ > ")
                self.assertIn("p processes", lines[0])
                self.assertNotIn("sort", lines[0])
                top.press("p")
                top.shows("p paths")
                for size in ((4, 30), (2, 80), (24, 79), (50, 250), (24, 80)):
                    top.read(0.4)  # output drawn for the previous size
                    top.resize(*size)
                    drawn = time.monotonic()
                    top.shows("dlcp top")
                    self.assertLess(time.monotonic() - drawn, 5)
                top.press("q")
                self.assertEqual(top.ended(), 0)
            finally:
                job.terminate()


if __name__ == "__main__":
    DLCP, PLUGIN = map(os.path.abspath, sys.argv[1:3])
    del sys.argv[1:3]
    unittest.main()
