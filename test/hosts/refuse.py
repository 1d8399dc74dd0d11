#!/usr/bin/env python3
"""Runs a program under a kernel that refuses some socket calls, as sandboxes and unusual kernels do (a seccomp filter).

refuse.py [--option LEVEL.NAME]... [--family FAMILY]... [--call NAME=ERROR]... -- PROGRAM [ARGUMENT...]
--option: setsockopt and getsockopt of this option fail with ENOPROTOOPT; LEVEL and NAME are numbers
--family: socket() of this address family, a number, fails with EAFNOSUPPORT
--call: this call fails with this error (bind=EACCES)"""

import argparse
import ctypes
import errno
import os
import platform
import struct
import sys

CALLS = {"x86_64": {"socket": 41, "bind": 49, "setsockopt": 54, "getsockopt": 55, "timerfd_create": 283,
                    "recvmmsg": 299},
         "aarch64": {"socket": 198, "bind": 200, "setsockopt": 208, "getsockopt": 209, "timerfd_create": 85,
                     "recvmmsg": 243}}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06      # of classic BPF: a word of the call, jump if equal, return
NUMBER, ARGUMENTS = 0, 16                   # where struct seccomp_data has the call and its arguments (8 bytes each)
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
SET_NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2  # of prctl


def rule(call, arguments, error):
    """Instructions that fail this call with the error where its arguments have these values, and otherwise go on."""
    tests = [(NUMBER, call), *((ARGUMENTS + 8 * place, value) for place, value in arguments)]
    program = []
    for index, (place, value) in enumerate(tests):
        left = len(tests) - 1 - index
        program += [(LOAD, 0, 0, place), (EQUAL, 0, 2 * left + 1, value)]
    return [*program, (RETURN, 0, 0, ERRNO | error)]


def main():
    own, program = sys.argv[1:], []
    if "--" in own:
        at = own.index("--")
        own, program = own[:at], own[at + 1:]
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--family", action="append", default=[], type=int)
    parser.add_argument("--call", action="append", default=[])
    chosen = parser.parse_args(own)
    calls = CALLS.get(platform.machine())
    if not program or calls is None:
        parser.error("no program, or a processor whose calls are not known here")
    instructions = []
    for option in chosen.option:
        level, name = map(int, option.split("."))
        for call in ("setsockopt", "getsockopt"):
            instructions += rule(calls[call], ((1, level), (2, name)), errno.ENOPROTOOPT)
    for family in chosen.family:
        instructions += rule(calls["socket"], ((0, family),), errno.EAFNOSUPPORT)
    for call in chosen.call:
        name, error = call.split("=")
        instructions += rule(calls[name], (), getattr(errno, error))
    instructions.append((RETURN, 0, 0, ALLOW))
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    buffer = ctypes.create_string_buffer(code, len(code))
    filter_program = struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(buffer))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    if prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or prctl(SET_SECCOMP, FILTER, filter_program, 0, 0):
        sys.exit(f"refuse.py: {os.strerror(ctypes.get_errno())}")
    os.execvp(program[0], program)


if __name__ == "__main__":
    main()
