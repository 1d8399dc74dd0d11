"""Runs inside a namespace: counts the DLCP packets over UDP (IPv4) that pass an interface, in both directions, by contents
and marks, until it is terminated. Standard library only; packets that it cannot keep up with are not counted.

wire_marks.py INTERFACE      prints "seeing" when it is ready, and one JSON array at the end:
                             [[outgoing, frame type, class, DSCP, ECN, packets], ...]; class: 0 except for data"""

import collections
import json
import signal
import socket
import sys

ALL_PROTOCOLS, OUTGOING = 3, 4
SO_RCVBUFFORCE = 33
MAGIC, DATA = 0xdc, 1
UDP_PAYLOAD = 14 + 20 + 8


def kind(frame):
    """(frame type, class, DSCP, ECN), or None for packets that are not DLCP's."""
    if len(frame) < UDP_PAYLOAD + 34 or frame[12:14] != b"\x08\x00" or frame[14] != 0x45 or frame[23] != 17:
        return None
    dlcp = frame[UDP_PAYLOAD:]
    if dlcp[0] != MAGIC:
        return None
    return dlcp[2], dlcp[3] >> 4 & 7 if dlcp[2] == DATA else 0, frame[15] >> 2, frame[15] & 3


def count(tap, seen):
    """Reads until it is told to stop or, if it may not wait, until no packet is left."""
    while True:
        data, address = tap.recvfrom(128)
        found = kind(data)
        if found:
            seen[address[2] == OUTGOING, *found] += 1


def stop(*_):
    raise KeyboardInterrupt


def main():
    seen = collections.Counter()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS)) as tap:
        # Meanwhile the senders use the processors; the packets wait in the socket and are read at the end.
        tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 512 << 20)
        tap.bind((sys.argv[1], ALL_PROTOCOLS))
        signal.signal(signal.SIGTERM, stop)
        print("seeing", flush=True)
        try:
            count(tap, seen)
        except KeyboardInterrupt:
            pass
        tap.setblocking(False)
        try:
            count(tap, seen)
        except BlockingIOError:
            pass
    print(json.dumps([[*key, packets] for key, packets in seen.items()]), flush=True)


if __name__ == "__main__":
    main()
