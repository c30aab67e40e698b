"""What a reader sees, and the form in which texts are compared."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentence_gate.normal import asides, fold, see, targets


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("20**19**", "2019"),
        ("20<b></b>19", "2019"),
        ("20<!-- x -->19", "2019"),
        ("20<!-->19 20<!--->19 20<?x?>19 20<!x>19", "2019 2019 2019 2019"),
        ("1{,}200 20{19} {5}", "1,200 20{19} {5}"),
        ("20&#49;9 &amp; more", "2019 & more"),
        ("\\*not\\* 1\\.5", "*not* 1.5"),
        ("_emphasis_ and snake_case_name", "emphasis and snake_case_name"),
        ("~~old~~ ~5 `code`", "old ~5 code"),
        ("5 * 3 = 15", "5 * 3 = 15"),
        ("[here](https://x.example/a)", "here"),
        ("20[](x)19 ![](y)", "2019 "),
        ("[**bold** label](x)", "bold label"),
        ("<https://x.example/a> <a@b.example>", "https://x.example/a a@b.example"),
        ("10<sup>3</sup>", "10^3"),
        ("one<br>two<p>three", "one two three"),
        ("a < b and c > d", "a < b and c > d"),
        ("&lt;b&gt;", "<b>"),
        ("&unknownentity; 7", "&unknownentity; 7"),
    ],
)
def test_see(text: str, seen: str) -> None:
    assert see(text) == seen


def test_asides_and_targets() -> None:
    assert asides("<!-- fees > 2019 --> a <!--b--> <!-- open") == (" fees > 2019 ", "b")
    assert asides('[a](x "3 b") [c](x (d)) <i title="e" alt=f>g</i>') == ("3 b", "d", "e", "f")
    text = '[a](https://x.example/?a=1&amp;b=2 "title") ![i](//y.example/p.png) '
    text += '<a href="javascript:x" class="c">l</a> <img src=z.png> [b](<data:1>)'
    assert targets(text) == ("https://x.example/?a=1&b=2", "//y.example/p.png", "javascript:x", "z.png", "data:1")
    assert asides("<?a 1?> <!b> <!-->") == ("a 1?", "b")
    assert targets("[a]( //x.example ) [a](\n<//y.example> 'b')") == ("//x.example", "//y.example")
    assert see("[a](b c)") == "[a](b c)"
    assert targets("no targets (https://x.example)") == ()


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("۳٫۱۴ ٣ ३ ３ 𝟑", "3٫14 3 3 3 3"),
        ("ي ك ى أ إ", "ی ک ی ا ا"),
        ("مُحَمَّد كـتـاب", "محمد کتاب"),
        ("می‌شود", "می شود"),
        ("2\u200c0\u200d1\u200b9", "2019"),
        ("2½ ¾", "2 1/2  3/4"),
        ("10³ m², 5 m ²", "10³ m², 5 m ²"),
        ("a ⁴⁵ b.¹ €⁷", "a 45 b.¹ €7"),
        ("¹ a\n² b\n¹⁴C", "¹ a\n² b\n14C"),
        ("H₂O", "H2O"),
        ("❹❺ ⓬ 4\u20655 20∶19", "45 12 45 20:19"),
        ("１２，３％", "12,3%"),
        ("1\u00a0200 1\u202f200", "1 200 1 200"),
        ("2\u03360\u03361\u03369", "2019"),
        ("fe\u0301vrier", "février"),
        ("I’m “so”", 'I\'m "so"'),
        ("1\ufe0f\u20e3", "1"),
        ("ﬁ ㎡ Ⅳ", "fi m2 IV"),
        ("हिन्दी ไทย 한국어", "हिन्दी ไทย 한국어"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_folding_is_idempotent_and_never_raises(text: str) -> None:
    once = fold(text)
    assert fold(once) == fold(fold(once))
    see(text), asides(text), targets(text)


@pytest.mark.parametrize(
    "seed", ["[", "<!--", "<a", "&", "*", "_", "[a](", "\\[", "([{", "[[a]", "<!-", "`", "&#1", "[](", "![", "<a href=", "2\u0336"]
)
def test_seeing_grows_with_the_text(seed: str) -> None:
    def cost(length: int) -> float:
        text = (seed * length)[:length]
        best = sys.float_info.max
        for _ in range(5):
            started = time.process_time()
            fold(see(text)), asides(text), targets(text)
            best = min(best, time.process_time() - started)
        return best

    small, large = cost(4_000), cost(64_000)
    assert large < 60 * small + 0.05, "sixteen times the text may not cost far more than sixteen times the time (quadratic: 256)"
