"""The other end of STAMP for the tests, in Scapy's reading of the packets (scapy.contrib.stamp).

stamp_peer.py reflect ADDR PORT        a stateful Session-Reflector that knows Extra Padding
stamp_peer.py send ADDR PORT COUNT     a Session-Sender with a TLV of padding and an unknown
                                       one; prints what each reply has, as JSON, a line each
"""
import json
import socket
import sys
import time

from scapy.contrib.stamp import (ErrorEstimate, STAMPSessionReflectorTestUnauthenticated,
                                 STAMPSessionSenderTestUnauthenticated, STAMPTestTLV)
from scapy.layers.inet import UDP

ERROR = dict(S=1, Z=0, scale=20, multiplier=3)


def dissect(kind, data):
    # Scapy finds the end of the TLVs by the length in the header of its parent.
    return kind(data, _parent=UDP(len=8 + len(data)))


def now():
    return time.time() + 2208988800  # Scapy writes NTP times as they are


def reflect(addr, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.IPPROTO_IP, 12, 1)  # IP_RECVTTL, ip(7): Python has no name for it
    s.bind((addr, port))
    sent = {}
    while True:
        data, control, _, peer = s.recvmsg(4096, 64)
        received = now()
        ttl = next(int.from_bytes(d[:4], sys.byteorder) for level, kind, d in control if kind == socket.IP_TTL)
        p = dissect(STAMPSessionSenderTestUnauthenticated, data)
        number = sent[(peer, p.ssid)] = sent.get((peer, p.ssid), -1) + 1
        tail = b"".join(bytes(STAMPTestTLV(flags=0 if t.type == 1 else "U", type=t.type, len=t.len, value=t.value))
                        for t in p.tlv_objects)
        reply = STAMPSessionReflectorTestUnauthenticated(
            seq=number, ts=now(), err_estimate=ErrorEstimate(**ERROR), ssid=p.ssid, ts_rx=received,
            seq_sender=p.seq, err_estimate_sender=p.err_estimate, ttl_sender=ttl)
        reply.fields["ts_sender"] = p.fields["ts"]  # p.ts is a number of fewer bits
        s.sendto(bytes(reply) + tail, peer)


def send(addr, port, count):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.settimeout(20)
    tail = (bytes(STAMPTestTLV(flags="U", type=1, len=5, value=b"abcde")) +
            bytes(STAMPTestTLV(flags="U", type=222, len=2, value=b"xy")))
    for number in range(count):
        t1 = now()
        s.sendto(bytes(STAMPSessionSenderTestUnauthenticated(
            seq=number + 70, ts=t1, err_estimate=ErrorEstimate(**ERROR), ssid=4321)) + tail, (addr, port))
        data, _ = s.recvfrom(4096)
        t4 = now()
        p = dissect(STAMPSessionReflectorTestUnauthenticated, data)
        print(json.dumps(dict(
            length=len(data), seq=p.seq, ssid=p.ssid, sender=p.seq_sender, ttl=p.ttl_sender,
            out=float(p.ts_rx) - t1, there=float(p.ts) - float(p.ts_rx), back=t4 - float(p.ts),
            copied=abs(float(p.ts_sender) - t1) < 1e-6 and bytes(p.err_estimate_sender) == bytes(ErrorEstimate(**ERROR)),
            multiplier=p.err_estimate.multiplier, z=p.err_estimate.Z,
            mbz=int(p.mbz1) + int(p.mbz2),
            tlvs=[[int(t.flags), t.type, t.value.decode()] for t in p.tlv_objects])), flush=True)


if __name__ == "__main__":
    role, addr, port, rest = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    send(addr, port, int(rest[0])) if role == "send" else reflect(addr, port)
