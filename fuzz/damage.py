"""Ways in which a file can be wrong: bytes that changed, and values that nobody expects where they stand."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

HOSTILE: tuple[Any, ...] = (
    None, "", 0, -1, 2**63, 10**30, 1e308, -1e-300, True, [], {}, [[1, 2], [3]], {"is": "os.system"},
    "unmix.__main__.X", "../../etc/passwd", "=1+1", "nan", "\u202eabc", "\x1b[31m", "é" * 1000, "9" * 5000,
)  # fmt: skip
WORDS = b"nan", b"inf", b"1e400", b"-", b"=1+1", b"\x00", b'"', b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b",,,", b"1" * 400


def damaged(content: bytes, name: str, rng: np.random.Generator) -> bytes:
    """Another content of the same file."""
    ways = [_flipped, _cut, _without, _twice, _blank, _inserted, _digits]
    if name.endswith((".json", ".jsonl")):
        ways += [_hostile_json] * 6
    if name.endswith(".safetensors"):
        ways += [_hostile_header] * 4
    if name.endswith((".csv", ".txt", ".toml")):
        ways += [_hostile_cell] * 6
    return ways[rng.integers(len(ways))](content, rng)


def _slice(content: bytes, rng: np.random.Generator) -> tuple[int, int]:
    start = int(rng.integers(len(content) + 1))
    return start, start + int(rng.integers(1, 1 + max(1, len(content) // 4)))


def _flipped(content: bytes, rng: np.random.Generator) -> bytes:
    found = np.frombuffer(content, np.uint8).copy()
    early = min(len(found), 200) if rng.random() < 0.5 else len(found)  # headers decide most
    at = rng.integers(max(early, 1), size=rng.integers(1, 9))
    found[at[at < len(found)]] ^= np.uint8(1 << rng.integers(8))
    return found.tobytes()


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: rng.integers(len(content) + 1)]


def _without(content: bytes, rng: np.random.Generator) -> bytes:
    a, b = _slice(content, rng)
    return content[:a] + content[b:]


def _twice(content: bytes, rng: np.random.Generator) -> bytes:
    a, b = _slice(content, rng)
    return content[:b] + content[a:]


def _blank(content: bytes, rng: np.random.Generator) -> bytes:
    a, b = _slice(content, rng)
    return content[:a] + b"\0" * len(content[a:b]) + content[b:]


def _inserted(content: bytes, rng: np.random.Generator) -> bytes:
    at = rng.integers(len(content) + 1)
    return content[:at] + rng.bytes(int(rng.integers(1, 40))) + content[at:]


def _digits(content: bytes, rng: np.random.Generator) -> bytes:
    """A number in words made much larger: shapes, offsets, lengths."""
    numbers = list(re.finditer(rb"\d+", content[:2000]))
    if not numbers:
        return _flipped(content, rng)
    found = numbers[rng.integers(len(numbers))]
    return content[: found.start()] + b"9" * int(rng.integers(1, 30)) + content[found.end() :]


def _hostile_cell(content: bytes, rng: np.random.Generator) -> bytes:
    cells = list(re.finditer(rb"[^,\n=]+", content))
    if not cells:
        return _inserted(content, rng)
    found = cells[rng.integers(len(cells))]
    return content[: found.start()] + WORDS[rng.integers(len(WORDS))] + content[found.end() :]


def _hostile_json(content: bytes, rng: np.random.Generator) -> bytes:
    """One value anywhere replaced, or one name gone; of lines of JSON, in one line."""
    lines = content.splitlines()
    try:
        value = json.loads(content)
    except ValueError:
        if len(lines) < 2:
            return _flipped(content, rng)
        at = rng.integers(len(lines))
        return b"\n".join([*lines[:at], _hostile_json(lines[at], rng), *lines[at + 1 :]])
    places = list(_places(value))
    if not places:
        return json.dumps(HOSTILE[rng.integers(len(HOSTILE))]).encode()
    inside, key = places[rng.integers(len(places))]
    if rng.random() < 0.2:
        del inside[key]
    else:
        inside[key] = HOSTILE[rng.integers(len(HOSTILE))]
    return json.dumps(value).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON value."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for key in keys for place in [(value, key), *_places(value[key])]]


def _hostile_header(content: bytes, rng: np.random.Generator) -> bytes:
    """The JSON header of a safetensors file with one value replaced, and its length set right."""
    length = int.from_bytes(content[:8], "little")
    header = _hostile_json(content[8 : 8 + length], rng)
    return len(header).to_bytes(8, "little") + header + content[8 + length :]
