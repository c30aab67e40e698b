"""The grammar of markers, style by style, and how they are taken out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentence_gate import MarkerStyle, SentenceGate, UsageError, judge
from sentence_gate.markers import NO_MARKER, UNDECIDED, style_of, take_out
from sentence_gate.policy import Policy


def numbers(text: str, style: str | MarkerStyle = "S") -> list[tuple[int, ...]]:
    return [marker.numbers for marker in style_of(style).find(text)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x [S1].", [(1,)]),
        ("x [s2].", [(2,)]),
        ("x [S1, S2].", [(1, 2)]),
        ("x [S1;S2].", [(1, 2)]),
        ("x [S1; 2].", [(1, 2)]),
        ("x [S1، S2].", [(1, 2)]),
        ("x [S1-S3].", [(1, 2, 3)]),
        ("x [S1–3].", [(1, 2, 3)]),
        ("x [S 1].", [(1,)]),
        ("x ［Ｓ１］.", [(1,)]),
        ("x [S۱۲].", [(12,)]),
        ("x [S१].", [(1,)]),
        ("x [S1][S2] [S3].", [(1,), (2,), (3,)]),
        ("x [S7] [S0].", [(7,), (0,)]),
        ("x [S3-S1].", [(3, 0)]),
        ("x [S1-S999999].", [(1, 0)]),
        ("x [S1, p. 3].", []),
        ("x [S1, see above].", []),
        ("x [S].", []),
        ("x [S1", []),
        ("x S1].", []),
        ("x [SS1].", []),
        ("x [1].", []),
        ("x [S" + "1, S" * 20 + "1].", []),  # longer than 64 characters: text
    ],
)
def test_style_s(text: str, wanted: list[tuple[int, ...]]) -> None:
    assert numbers(text) == wanted


@pytest.mark.parametrize(
    ("style", "text", "wanted"),
    [
        ("numeric", "x [1], [2, 3] and [4-6].", [(1,), (2, 3), (4, 5, 6)]),
        ("numeric", "a[1] and [1](https://x.example)", []),
        ("footnote", "x [^1] [^2].", [(1,), (2,)]),
        ("doc", "x [doc1] [DOC2].", [(1,), (2,)]),
        ("lenticular", "x 【1】【2】.", [(1,), (2,)]),
        ("ID", "x [ID:0] [ID: 4].", [(1,), (5,)]),
        ("id", "x [ID:0].", [(1,)]),
        ("source", "x [Source 1] [source 2].", [(1,), (2,)]),
        ("parenthesis", "x (Source 1).", [(1,)]),
        ("citation", "x [citation:1][citation: 2].", [(1,), (2,)]),
        ("caret", "x [^1^][^2^].", [(1,), (2,)]),
        ("hashes", "x ##0$$ ##3$$.", [(1,), (4,)]),
        ("sup", "x<sup>1</sup><sup>2, 3</sup>, 5 m<sup>x</sup>.", [(1,), (2, 3)]),
        (MarkerStyle("<<{n}>>"), "x <<2>>.", [(2,)]),
        (MarkerStyle("[citation:{n}]"), "x [citation:2] [citation:2, 3].", [(2,), (2, 3)]),
    ],
)
def test_other_styles(style: str | MarkerStyle, text: str, wanted: list[tuple[int, ...]]) -> None:
    assert numbers(text, style) == wanted


@pytest.mark.parametrize(
    "name", ["S", "numeric", "footnote", "doc", "lenticular", "ID", "source", "parenthesis", "citation", "caret", "hashes", "sup"]
)
def test_what_a_style_writes_it_reads(name: str) -> None:
    style = style_of(name)
    assert numbers(f"It opens {style.written(3)}.", style) == [(3,)]


@pytest.mark.parametrize("template", ["S1", "{n}", "[{n}", "{n}]", "[{n}{n}]", "[S{n}] " * 20, " {n}]", 3, "[1{n}]"])
def test_templates_that_are_none(template: object) -> None:
    with pytest.raises(UsageError):
        MarkerStyle(template)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        MarkerStyle("[S{n}]", base=-1)
    with pytest.raises(UsageError, match="numeric"):
        style_of("unknown")


@given(
    st.text(st.sampled_from("[](S)s12,;- ^:Vx】【"), max_size=24),
    st.sampled_from(["S", "numeric", "footnote", "ID", "lenticular", "parenthesis"]),
)
def test_a_beginning_is_undecided_as_long_as_it_may_become_a_marker(text: str, name: str) -> None:
    style = style_of(name)
    whole = style.end_at(text, 0, whole=True)
    for cut in range(1, len(text)):
        early = style.end_at(text[:cut], 0)
        assert early in (UNDECIDED, whole), (cut, early, whole)
    assert style.end_at(text, 0) in (UNDECIDED, whole)
    assert whole == NO_MARKER or 0 < whole <= 64


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It opens [S1].", "It opens."),
        ("It opens.[S1]", "It opens."),
        ("It opens. [S1][S2]", "It opens."),
        ("It opens [S1] and closes [S2].", "It opens and closes."),
        ("7. [S1]The pool.", "7. The pool."),
        ("Est-ce ouvert [S1] ?", "Est-ce ouvert ?"),
        ("It opens ([S1]).", "It opens."),
        ("It opens ([S1], [S2]).", "It opens (,)."),
        ("It opens **[S1]**.", "It opens."),
        ("20[S1]19 people", "20 19 people"),
        ("a[S1]b", "a b"),
        ("开门[S1]了。", "开门了。"),
        ("باز است [S1]، بله", "باز است، بله"),
        ("A line [S1]\nand more", "A line\nand more"),
        ("- [S1] Bread", "- Bread"),
        ("[S1]", ""),
        ("It opens [S1, p. 3].", "It opens [S1, p. 3]."),
    ],
)
def test_taking_out(text: str, wanted: str) -> None:
    assert take_out("", text, style_of("S"))[1] == wanted


def test_in_a_fence_nothing_is_a_marker() -> None:
    report = judge("Run [S1]:\n```\nx = a[S1]\n```\n", ["Run it."], Policy(on_violation="observe"))
    assert report.text == "Run:\n```\nx = a[S1]\n```\n"


def test_markers_are_kept_if_the_policy_says_so() -> None:
    gate = SentenceGate(["The pool opens at eight."], Policy(show_markers=True))
    assert gate.feed("It opens at eight [S1]. X").text == "It opens at eight [S1]."


@pytest.mark.parametrize(
    "name", ["S", "numeric", "footnote", "doc", "lenticular", "ID", "source", "parenthesis", "citation", "caret", "hashes", "sup"]
)
def test_every_style_is_taken_out_of_what_is_released_for_every_cutting(name: str) -> None:
    mark = style_of(name).written(1)
    text = (
        f"The pool opens at eight {mark}. Lockers are free.{mark} Towels are free. {mark}{mark} "
        f"It is warm today.\n\n- Bring a towel {mark}\n{mark} End."
    )
    wanted = "The pool opens at eight. Lockers are free. Towels are free. It is warm today.\n\n- Bring a towel\nEnd."
    for size in (1, 3, len(text)):
        gate = SentenceGate(["The pool opens at eight."], Policy(markers=name))
        shown = "".join(gate.feed(text[at : at + size]).text for at in range(0, len(text), size)) + gate.finish().text
        assert shown == wanted, size
    report = judge(f"The pool opens at nine {mark}.", ["The pool opens at eight."], Policy(markers=name, on_violation="observe"))
    assert report.cited == (1,)
