"""Parses the packets of a RoCEv2 capture (Ethernet, IPv4) and checks their structure. Standard library only."""

import dataclasses
import struct
import zlib

UD_SEND_ONLY = 0x64
UC_WRITE_ONLY_IMMEDIATE = 0x2b
RC_WRITE_ONLY_IMMEDIATE = 0x0b
RC_ACKNOWLEDGE = 0x11
PACKET_BYTES = 4096  # of the path MTU
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


@dataclasses.dataclass
class Packet:
    source: str
    destination: str
    dscp: int
    ecn: int
    source_port: int
    destination_port: int
    opcode: int = -1  # this and the following fields: RoCEv2
    queue_pair: int = 0  # of the destination
    problems: list = dataclasses.field(default_factory=list)
    frame_type: int = 0  # of a packet over UD
    token: int = 0  # DLCP's connection
    traffic_class: int = 0  # 0 except for data packets

    def check(self, holds, what):
        if not holds:
            self.problems.append(what)


def address(four):
    return ".".join(map(str, four))


def icrc(ip):
    """RoCEv2's ICRC over a whole IPv4 packet (without its last four bytes): fields that change on the way count as ones."""
    masked = bytearray(b"\xff" * 8 + ip[:-4])
    for i in (1, 8, 10, 11, 20 + 6, 20 + 7, 28 + 4):  # TOS, TTL, checksums, the BTH's reserved byte
        masked[8 + i] = 0xff
    return zlib.crc32(bytes(masked))


def read_datagram(found, ip, payload, padding):
    """The part after the BTH of a packet over UD."""
    queue_key, from_queue_pair = struct.unpack_from(">II", ip, 40)
    dlcp = ip[48:]
    payload -= 8  # DETH
    found.check(payload > 0 and payload % 4 == 0, f"{payload} bytes between DETH and ICRC")
    found.check(padding < payload, f"{padding} of them padding")
    found.check(queue_key == QUEUE_KEY, f"queue key {queue_key:#x}")
    found.check(from_queue_pair & 0xffffff > 1, f"from queue pair {from_queue_pair & 0xffffff}")
    found.check(dlcp[0] == 0xdc, f"DLCP's magic is {dlcp[0]:#x}")
    found.frame_type = dlcp[2]
    found.token = int.from_bytes(dlcp[4:12], "little")
    if found.frame_type == DATA:
        found.traffic_class = dlcp[3] >> 4 & 7


def read_write(found, ip, payload, padding):
    """The part after the BTH of an RDMA WRITE with immediate: one whole message."""
    length, = struct.unpack_from(">I", ip, 40 + 12)
    payload -= 16 + 4  # RETH, immediate
    found.check(0 < length <= PACKET_BYTES, f"a message of {length} bytes")
    found.check(payload == length + padding, f"{payload} bytes, of them {padding} padding, for a message of {length}")


def packet(frame, length):
    """None for a packet that is not IPv4 and UDP. The ICRC of a completely captured packet is checked."""
    if len(frame) < 14 + 20 + 8 or frame[12:14] != b"\x08\x00" or frame[14] != 0x45 or frame[23] != 17:
        return None
    ip = frame[14:]
    total, = struct.unpack_from(">H", ip, 2)
    source_port, destination_port, udp_length = struct.unpack_from(">HHH", ip, 20)
    found = Packet(address(ip[12:16]), address(ip[16:20]), ip[1] >> 2, ip[1] & 3, source_port, destination_port)
    if destination_port != ROCE_PORT:
        return found
    found.check(length == 14 + total, f"length {length} on the wire, IP says {total}")
    found.check(udp_length == total - 20, f"UDP length {udp_length} of {total}")
    found.opcode, flags, key, queue_pair = struct.unpack_from(">BBHI", ip, 28)
    found.queue_pair = queue_pair & 0xffffff
    found.check(flags & 0xf == 0, "transport version")
    found.check(key == 0xffff, f"partition key {key:#x}")
    found.check(found.queue_pair > 1, f"to queue pair {found.queue_pair}")
    payload = udp_length - 8 - 12 - 4  # UDP, BTH, ICRC
    padding = flags >> 4 & 3
    if found.opcode in (UC_WRITE_ONLY_IMMEDIATE, RC_WRITE_ONLY_IMMEDIATE):
        read_write(found, ip, payload, padding)
    elif found.opcode == RC_ACKNOWLEDGE:
        found.check(payload == 4, f"{payload} bytes in an acknowledgement")
    else:
        read_datagram(found, ip, payload, padding)
    if len(ip) == total:
        found.check(ip[-4:] == icrc(ip).to_bytes(4, "little"), "ICRC")
    return found


def packets(path):
    return [found for found in (packet(*frame) for frame in frames(path)) if found]
