"""Makes a screenshot smaller: a PNG with at most 256 colours. For images of 8 bits per channel, without interlacing."""

import collections
import struct
import zlib

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}  # by colour type: RGB, RGBA
MAX_COLOURS = 256


def _chunks(data):
    offset = len(_SIGNATURE)
    while offset < len(data):
        (length,) = struct.unpack_from(">I", data, offset)
        yield data[offset + 4:offset + 8], data[offset + 8:offset + 8 + length]
        offset += 12 + length


def _paeth(left, up, corner):
    estimate = left + up - corner
    distances = (abs(estimate - left), abs(estimate - up), abs(estimate - corner))
    return (left, up, corner)[distances.index(min(distances))]


def _unfilter(kind, row, above, step):
    """Reverses the filter of one row, in place."""
    for i in range(len(row)) if kind else ():
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        if kind == 1:
            guess = left
        elif kind == 2:
            guess = above[i]
        elif kind == 3:
            guess = (left + above[i]) // 2
        else:
            guess = _paeth(left, above[i], corner)
        row[i] = (row[i] + guess) & 0xFF


def _pixels(data):
    """Width, and the rows of an image as lists of (red, green, blue)."""
    parts = collections.defaultdict(bytes)
    for name, body in _chunks(data):
        parts[name] += body
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    if depth != 8 or interlaced or colour not in _CHANNELS:
        raise ValueError(f"a PNG of {depth} bits, colour type {colour}, interlacing {interlaced}")
    step = _CHANNELS[colour]
    raw = zlib.decompress(parts[b"IDAT"])
    above = bytearray(width * step)
    rows = []
    for y in range(height):
        start = y * (width * step + 1)
        row = bytearray(raw[start + 1:start + 1 + width * step])
        _unfilter(raw[start], row, above, step)
        rows.append(list(zip(row[0::step], row[1::step], row[2::step])))
        above = row
    return width, rows


def _indices(rows):
    """The palette, and the number in it of every colour: its own, or that of the closest."""
    counts = collections.Counter(pixel for row in rows for pixel in row)
    palette = [colour for colour, _ in counts.most_common(MAX_COLOURS)]
    index = {colour: number for number, colour in enumerate(palette)}
    for colour in counts:
        if colour not in index:
            closest = min(palette, key=lambda other: sum((a - b) ** 2 for a, b in zip(colour, other)))
            index[colour] = index[closest]
    return palette, index


def _chunk(name, body):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def with_palette(data):
    """The same image, as bytes of a PNG with a palette."""
    width, rows = _pixels(data)
    palette, index = _indices(rows)
    packed = b"".join(b"\0" + bytes(index[pixel] for pixel in row) for row in rows)
    return (_SIGNATURE + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), 8, 3, 0, 0, 0))
            + _chunk(b"PLTE", b"".join(map(bytes, palette))) + _chunk(b"IDAT", zlib.compress(packed, 9)) + _chunk(b"IEND", b""))
