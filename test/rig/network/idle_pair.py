#!/usr/bin/env python3
"""Measures how much of a core two idle, connected processes use.

  idle_pair.py PLUGIN [--seconds S]

Loads an NCCL net plugin (interface v8) in two processes, connects one to the other over loopback, leaves both without
any call, and prints the busier one's CPU share as JSON."""

import argparse
import ctypes
import json
import os
import sys
import time

HANDLE_BYTES = 128
CONNECT_SECONDS = 10
# The first entries of the table, in the interface's order; the others are not needed here.
POINTER = ctypes.c_void_p
CALL = ctypes.CFUNCTYPE
OUT = ctypes.POINTER(POINTER)


class NetV8(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p),
                ("init", CALL(ctypes.c_int, POINTER)),
                ("devices", CALL(ctypes.c_int, ctypes.POINTER(ctypes.c_int))),
                ("getProperties", POINTER),
                ("listen", CALL(ctypes.c_int, ctypes.c_int, POINTER, OUT)),
                ("connect", CALL(ctypes.c_int, ctypes.c_int, POINTER, OUT, OUT)),
                ("accept", CALL(ctypes.c_int, POINTER, OUT, OUT))]


LOGGER = CALL(None, ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p)(
    lambda *arguments: None)


def check(code, call):
    if code:
        raise RuntimeError(f"{call} returned {code}")


def load(path):
    net = NetV8.in_dll(ctypes.CDLL(path), "ncclNetPlugin_v8")
    check(net.init(ctypes.cast(LOGGER, POINTER)), "init")
    count = ctypes.c_int()
    check(net.devices(ctypes.byref(count)), "devices")
    return net


def until_there(call, name):
    """Repeats a call such as connect until it returns a comm."""
    comm, device_handle = POINTER(), POINTER()
    deadline = time.monotonic() + CONNECT_SECONDS
    while not comm.value:
        check(call(ctypes.byref(comm), ctypes.byref(device_handle)), name)
        if time.monotonic() > deadline:
            raise RuntimeError(f"{name}: no connection after {CONNECT_SECONDS} s")
    return comm


def idle_share(seconds):
    begin, cpu = time.monotonic(), time.process_time()
    time.sleep(seconds)
    return (time.process_time() - cpu) / (time.monotonic() - begin)


def sender(path, handle_pipe, result_pipe, seconds):
    net = load(path)
    handle = ctypes.create_string_buffer(os.read(handle_pipe, HANDLE_BYTES), HANDLE_BYTES)
    until_there(lambda comm, extra: net.connect(0, handle, comm, extra), "connect")
    os.write(result_pipe, json.dumps(idle_share(seconds)).encode())


def receiver(path, handle_pipe, seconds):
    net = load(path)
    handle = ctypes.create_string_buffer(HANDLE_BYTES)
    listener = POINTER()
    check(net.listen(0, handle, ctypes.byref(listener)), "listen")
    os.write(handle_pipe, handle.raw)
    until_there(lambda comm, extra: net.accept(listener, comm, extra), "accept")
    return idle_share(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugin")
    parser.add_argument("--seconds", type=float, default=5)
    arguments = parser.parse_args()
    os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
    handle_read, handle_write = os.pipe()
    result_read, result_write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            sender(arguments.plugin, handle_read, result_write, arguments.seconds)
        except (OSError, RuntimeError, ValueError) as error:
            print(f"sender: {error}", file=sys.stderr)
        finally:
            os._exit(0)
    os.close(result_write)
    mine = receiver(arguments.plugin, handle_write, arguments.seconds)
    theirs = os.read(result_read, 100)
    os.waitpid(child, 0)
    if not theirs:
        return 3
    share = 100 * max(mine, json.loads(theirs))
    print(json.dumps({"unit": "% core", "ours": share, "target": "<1", "met": share < 1}), flush=True)
    os._exit(0)  # comms are left open on purpose; no exit handler must run


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        print(f"receiver: {error}", file=sys.stderr)
        sys.exit(3)
