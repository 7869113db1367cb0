"""A database of places in MaxMind's format, written by hand: networks with what is told of each."""

import struct
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path

MARKER = b"\xab\xcd\xefMaxMind.com"
TEXT, NUMBER_16, NUMBER_32, MAP, NUMBER_64, ARRAY = 2, 5, 6, 7, 9, 11
CITY = {"country": {"iso_code": "SE"}, "subdivisions": [{"iso_code": "M", "names": {"en": "Skåne"}}]}
COUNTRY = {"country": {"iso_code": "JP"}}
# The networks of documentation: RFC 5737 and RFC 3849.
WORLD = {"198.51.100.0/24": CITY, "203.0.113.0/24": COUNTRY, "2001:db8::/32": COUNTRY}


def database(file: Path, told: Mapping[str, object] = WORLD, kind: str = "Test-City") -> Path:
    """Writes a database of IPv6, in which IPv4 is ::/96 as everywhere."""
    tree: list[list[int | bytes | None]] = [[None, None]]
    for network, value in told.items():
        _hang(tree, network, _packed(value))
    data, nodes = b"", b""
    for node in tree:
        for branch in node:
            if isinstance(branch, bytes):
                data, branch = data + branch, len(tree) + 16 + len(data)
            nodes += struct.pack(">I", len(tree) if branch is None else branch)
    about = {
        "node_count": _number(NUMBER_32, 4, len(tree)), "build_epoch": _number(NUMBER_64, 8, 1_790_000_000),
        "record_size": _number(NUMBER_16, 2, 32), "ip_version": _number(NUMBER_16, 2, 6),
        "binary_format_major_version": _number(NUMBER_16, 2, 2),
        "binary_format_minor_version": _number(NUMBER_16, 2, 0),
        "database_type": kind, "languages": ["en"], "description": {"en": "of a test"},
    }  # fmt: skip
    file.write_bytes(nodes + bytes(16) + data + MARKER + _packed(about))
    return file


def _hang(tree: list[list[int | bytes | None]], network: str, value: bytes) -> None:
    asked = ip_network(network)
    length = asked.prefixlen + (96 if asked.version == 4 else 0)
    bits = f"{int(asked.network_address):0128b}"[:length]
    node = 0
    for bit in bits[:-1]:
        below = tree[node][int(bit)]
        if not isinstance(below, int):
            below = tree[node][int(bit)] = len(tree)
            tree.append([None, None])
        node = below
    tree[node][int(bits[-1])] = value


def _packed(value: object) -> bytes:
    if isinstance(value, dict):
        return _head(MAP, len(value)) + b"".join(_packed(each) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return _head(ARRAY, len(value)) + b"".join(map(_packed, value))
    if isinstance(value, bytes):
        return value
    text = str(value).encode()
    return _head(TEXT, len(text)) + text


def _number(kind: int, size: int, value: int) -> bytes:
    return _head(kind, size) + value.to_bytes(size, "big")


def _head(kind: int, size: int) -> bytes:
    """Kinds above 7 are written in a second byte; sizes from 29 in one more."""
    length, more = (29, bytes([size - 29])) if size >= 29 else (size, b"")
    return (bytes([kind << 5 | length]) if kind <= MAP else bytes([length, kind - MAP])) + more
