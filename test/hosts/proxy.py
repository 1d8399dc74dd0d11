#!/usr/bin/env python3
"""A proxy for TCP connections that a firewall rule redirects to it, as the side cars of service meshes are.

proxy.py PORT MARK      PORT: where it listens; MARK: of its own packets, which the rule leaves alone"""

import socket
import struct
import sys
import threading

ORIGINAL_DESTINATION = 80  # SO_ORIGINAL_DST


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end, how in ((source, socket.SHUT_RD), (target, socket.SHUT_WR)):
        try:
            end.shutdown(how)
        except OSError:
            pass


def serve(client, mark):
    _, port, host = struct.unpack("!HH4s8x", client.getsockopt(socket.SOL_IP, ORIGINAL_DESTINATION, 16))
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, mark)
    try:
        server.connect((socket.inet_ntoa(host), port))
    except OSError:
        client.close()
        return
    threading.Thread(target=copy, args=(client, server), daemon=True).start()
    copy(server, client)


def main():
    port, mark = int(sys.argv[1]), int(sys.argv[2])
    listener = socket.create_server(("", port), backlog=64)
    print("ready", flush=True)
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, mark), daemon=True).start()


if __name__ == "__main__":
    main()
