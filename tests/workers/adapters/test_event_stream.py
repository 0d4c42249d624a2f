from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers.adapters._body import BODY_BYTES, BadBody
from workers.adapters._event_stream import EVENTS, EventStream


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_each_event_gives_its_data(end: bytes) -> None:
    """Whatever ends the lines; comments, names and ids say nothing, several data lines are one data."""
    lines = [b"\xef\xbb\xbf: a comment", b"id: 7", b"event: message", b"data: {", b"data: }", b"", b"data:x", b"", b""]

    found = list(EventStream().feed(end.join(lines) + b"y"))

    assert found == [b"{\n}", b"x"]


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1)), st.data())
def test_it_does_not_matter_where_the_bytes_are_cut(texts: list[str], data: st.DataObject) -> None:
    """A stream comes in whatever pieces the network makes of it."""
    whole = b"".join(b"data: " + text.encode() + b"\r\n\r\n" for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    stream = EventStream()

    found = [one for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True) for one in stream.feed(whole[a:b])]

    assert found == [text.encode() for text in texts]


def test_a_compressed_stream_is_read_as_it_comes() -> None:
    """The first event is there before the stream has ended."""
    packed = gzip.compress(b"data: 1\n\ndata: 2\n\n")
    stream = EventStream("gzip")

    found = [one for at in range(len(packed)) for one in stream.feed(packed[at : at + 1])]

    assert found == [b"1", b"2"]


@pytest.mark.parametrize(
    ("encoding", "chunk"),
    [
        ("", b"data: " + b"x" * BODY_BYTES),
        ("gzip", gzip.compress(b"x" * (BODY_BYTES + 1))),
        ("gzip", b"no gzip at all"),
        ("", b"data: x\n\n" * (EVENTS + 1)),
    ],
)
def test_a_stream_has_limits(encoding: str, chunk: bytes) -> None:
    """Bytes before and after decompression, and events, are bounded; what cannot be decompressed is refused."""
    with pytest.raises(BadBody):
        list(EventStream(encoding).feed(chunk))


def test_an_encoding_that_was_not_offered_is_refused() -> None:
    """We said what we take."""
    with pytest.raises(BadBody, match="not offered"):
        EventStream("br")
