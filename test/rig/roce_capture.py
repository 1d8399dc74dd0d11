"""Parses the packets of a RoCEv2 capture (Ethernet, IPv4) and checks their structure. Standard library only."""

import dataclasses
import struct
import zlib

UD_SEND_ONLY = 0x64
ROCE_PORT = 4791
QUEUE_KEY = 0x0d1c0790  # verbs_card.h
DATA = 1  # DLCP's frame type


def frames(path):
    """(bytes captured, bytes on the wire) of each packet of a pcap file."""
    raw = path.read_bytes()
    order = "<" if raw[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(raw):
        _, _, kept, length = struct.unpack_from(order + "IIII", raw, at)
        if at + 16 + kept > len(raw):
            break  # the capture ended within a packet
        yield raw[at + 16:at + 16 + kept], length
        at += 16 + kept


@dataclasses.dataclass(frozen=True)
class Packet:
    source: str
    destination: str
    dscp: int
    ecn: int
    source_port: int
    destination_port: int
    opcode: int = -1  # this and the following fields: RoCEv2
    problems: tuple = ()
    frame_type: int = 0
    token: int = 0  # DLCP's connection
    traffic_class: int = 0  # 0 except for data packets


def address(four):
    return ".".join(map(str, four))


def icrc(ip):
    """RoCEv2's ICRC over a whole IPv4 packet (without its last four bytes): fields that change on the way count as ones."""
    masked = bytearray(b"\xff" * 8 + ip[:-4])
    for i in (1, 8, 10, 11, 20 + 6, 20 + 7, 28 + 4):  # TOS, TTL, checksums, the BTH's reserved byte
        masked[8 + i] = 0xff
    return zlib.crc32(bytes(masked))


def packet(frame, length):
    """None for a packet that is not IPv4 and UDP. The ICRC of a completely captured packet is checked."""
    if len(frame) < 14 + 20 + 8 or frame[12:14] != b"\x08\x00" or frame[14] != 0x45 or frame[23] != 17:
        return None
    ip = frame[14:]
    total, = struct.unpack_from(">H", ip, 2)
    source_port, destination_port, udp_length = struct.unpack_from(">HHH", ip, 20)
    problems = []

    def check(holds, what):
        if not holds:
            problems.append(what)

    if destination_port != ROCE_PORT:
        return Packet(address(ip[12:16]), address(ip[16:20]), ip[1] >> 2, ip[1] & 3, source_port, destination_port)
    check(length == 14 + total, f"length {length} on the wire, IP says {total}")
    check(udp_length == total - 20, f"UDP length {udp_length} of {total}")
    opcode, flags, key, queue_pair = struct.unpack_from(">BBHI", ip, 28)
    queue_key, from_queue_pair = struct.unpack_from(">II", ip, 40)
    dlcp = ip[48:]
    payload = udp_length - 8 - 12 - 8 - 4  # UDP, BTH, DETH, ICRC
    padding = flags >> 4 & 3
    check(payload > 0 and payload % 4 == 0, f"{payload} bytes between DETH and ICRC")
    check(padding < payload, f"{padding} of them padding")
    check(flags & 0xf == 0, "transport version")
    check(key == 0xffff, f"partition key {key:#x}")
    check(queue_pair & 0xffffff > 1, f"to queue pair {queue_pair & 0xffffff}")
    check(queue_key == QUEUE_KEY, f"queue key {queue_key:#x}")
    check(from_queue_pair & 0xffffff > 1, f"from queue pair {from_queue_pair & 0xffffff}")
    check(dlcp[0] == 0xdc, f"DLCP's magic is {dlcp[0]:#x}")
    if len(ip) == total:
        check(ip[-4:] == icrc(ip).to_bytes(4, "little"), "ICRC")
    frame_type = dlcp[2]
    return Packet(address(ip[12:16]), address(ip[16:20]), ip[1] >> 2, ip[1] & 3, source_port, destination_port, opcode,
                  tuple(problems), frame_type, int.from_bytes(dlcp[4:12], "little"),
                  dlcp[3] >> 4 if frame_type == DATA else 0)


def packets(path):
    return [found for found in (packet(*frame) for frame in frames(path)) if found]
