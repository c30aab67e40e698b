"""What the scripts need of the splitter: colons that end a sentence or lead in, full stops without a word."""

from __future__ import annotations

import pytest

from sentence_gate import SentenceSplitter


def kinds(code: str, text: str, size: int) -> list[tuple[str, str]]:
    splitter = SentenceSplitter(code)
    found = [sentence for at in range(0, len(text), size) for sentence in splitter.feed(text[at : at + size])]
    tail = splitter.flush()
    return [(sentence.text, sentence.kind) for sentence in [*found, *([tail] if tail else [])]]


@pytest.mark.parametrize("size", [1, 2, 3, 99])
@pytest.mark.parametrize(
    ("code", "text", "kind"),
    [
        ("hy", "Ժամերը:\n- երեքշաբթի", "lead_in"),
        ("hy", "Ժամերը՝\n- երեքշաբթի", "lead_in"),
        ("hy", "Այգին բաց է:\n\nՋուրը սառն է:", "prose"),  # here the colon is a full stop
        ("hy", "Այգին բաց է:\nՋուրը սառն է:", "prose"),
        ("hy", "Այգին բաց է:\n-5 աստիճան է:", "prose"),
        ("hy", "Այգին: 1) բաց է:", "prose"),
        ("en", "You need: [S1]\n3. Photos", "lead_in"),
        ("am", "ሰዓቶች:\n- ማክሰኞ", "lead_in"),
        ("am", "ሰዓቶች፦\n- ማክሰኞ", "lead_in"),
        ("ja", "時間：\n- 火曜", "lead_in"),
        ("th", "เวลา:\n- วันอังคาร", "lead_in"),
    ],
)
def test_a_colon_of_the_script_leads_in(code: str, text: str, kind: str, size: int) -> None:
    assert kinds(code, text, size)[0][1] == kind


@pytest.mark.parametrize("text", [".\u00a0(x", ". - x", ".«x", "…(x"])
def test_a_full_stop_without_a_word(text: str) -> None:
    assert [sentence for sentence, _ in kinds("en", text, 1)] == [sentence for sentence, _ in kinds("en", text, len(text))]
