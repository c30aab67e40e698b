"""Where a sentence ends: one table a rule, both ways. Every case is fed whole and one code point at a time."""

import time

import pytest

from sentence_gate import MarkerStyle, Sentence, SentenceSplitter, UsageError


def split(text: str, language: str = "en", size: int = 0, **options: object) -> list[Sentence]:
    splitter = SentenceSplitter(language, **options)  # type: ignore[arg-type]
    size = size or len(text)
    found = [sentence for at in range(0, len(text), size) for sentence in splitter.feed(text[at : at + size])]
    tail = splitter.flush()
    return [*found, tail] if tail else found


def texts(text: str, language: str = "en", **options: object) -> list[str]:
    whole = split(text, language, **options)
    assert split(text, language, 1, **options) == whole
    assert split(text, language, 3, **options) == whole
    for sentence in whole:
        assert sentence.text == text[sentence.start : sentence.end]
        assert sentence.lead == text[sentence.start - len(sentence.lead) : sentence.start]
    return [sentence.text for sentence in whole]


def case(joined: str, language: str = "en") -> object:
    """A text in which "|" stands at every end; the white space after it belongs to the next sentence."""
    return pytest.param(joined, language, id=f"{language}: {joined[:60]!r}")


@pytest.mark.parametrize(
    ("joined", "language"),
    [
        # terminators and the white space after them
        case("It opens at nine.| Lockers are free!| Is it warm?| Yes…| So it is."),
        case("Really?!| Yes!!!| Well... it is.| Good...| That is all."),
        case("It costs 3.14 at example.com today.| See v1.2.3 there."),
        case("No space.Here is none."),
        case("It is open; the pool is closed: come back."),
        case("آیا باز است؟| بله.| خوب است۔| پایان؛ نه هنوز.", "fa"),
        case("यह खुला है।| कल बंद है॥| आइए।", "hi"),
        case("九点开门。|下午关门！|是吗？|对。", "zh"),
        case("The word ֆիլմ։| ends so.| ሰላም።| ႏွင့္။| end."),
        # markers belong to the sentence before them
        case("It opens. [S1]| Lockers are free. [S1][S2]| Towels. [S1] [S2]| End."),
        case("It opens [S1].| Lockers [S2], [S3].| End."),
        case("It opens at 9. [S1]|The end."),
        case("It opens [S1].|The end."),
        case("See 【1】.| Then."),
        case("It opens at nine. [17]| Lockers are free."),
        # the next character decides
        case("Smith et al. and others agree.| They do."),
        case("It was closed... and then opened.| Yes."),
        case('We said hello.| "Hello," they said.'),
        case("It closed.| – The end."),
        # abbreviations, initials, ordinals
        case("Dr. Keller and Mr. J. R. Smith came, e.g. on foot.| They left."),
        case("It opens at 9 a.m. on Mondays.| The gym opens at 6 p.m.| The pool is closed."),
        case("Visit at 9 a.m. Eastern time.| Good."),
        case("See p. 12 and Vol. IV of the series.| I agree."),
        case("It opens am 17. September, z. B. um neun.| Das ist gut.", "de"),
        case("17. September bis 3. Oktober ist zu.| Danach offen.", "de"),
        case("Siehe S. 12, bzw. Kap. 4 unten.| Danke.", "de"),
        case("В 1990 г. открыт музей А. С. Пушкина.| Он большой.", "ru"),
        case("در سال ۱۳۵۸ ه.ش. ساخته شد.| باز است.", "fa"),
        case("डॉ. राव ने कहा।| वे आए।", "hi"),
        case("L'art. 5 s'applique, c.-à-d. partout.| Bien.", "fr"),
        # quotes and brackets
        case('"It is open."| The guard left.'),
        case("He said: „Es ist offen.“| Dann ging er.", "de"),
        case("Er fragte: »Ist es offen?«| Ja.", "de"),
        case('"It is open!" she said.| Nobody came.'),
        case("«باز است.» گفت او.| رفت.", "fa"),
        case("It is open (see below.)| The gym is not."),
        case("(It is open.)| The gym is not."),
        case("It is open (at nine.) on Mondays.| Yes."),
        case("他说：“九点开门。下午关门。”|然后走了。", "zh"),
        case("他说“开门。”，然后走了。|好。", "zh"),
        case("「開いています。」と彼は言った。|はい。", "ja"),
        # list numbers
        case("1. Bring a towel.|\n2. Bring a coin.|\n3) Swim."),
        case("Do this:|\n1. Bring a towel.|\n- Swim.|\n* Go."),
        case("Steps: 1. Bread 2. Milk 3. Eggs.| Done."),
        case("۱. حوله بیاورید.|\n۲. شنا کنید.", "fa"),
        case("Here is a list.| 1. Bring a towel.| 2. Swim."),
        # blocks
        case("A headline|\n\nThe text goes on\nin this line.| End."),
        case("A headline|\r\n\r\nThe text goes on\r\nhere.| End."),
        case("# Opening hours|\nIt opens.|\n> It is warm."),
        case("It opens [S1]|\nLockers are free [S1]|\nEnd"),
        case("First line\nsecond line."),
        # links and words in lower case
        case("The plan is on the site.| https://pool.example/plan has it."),
        case("See the site.| www.pool.example has it."),
        case("The water is warm.| they like it."),
        case("The water is approx. they say nine.| Yes."),
        case("we went there.| its good.| it opens at nine."),
        case("The pool of St. Ives et al. and others is warm."),
        case("Die Stadt ist alt. sie ist schön.", "de"),
        # quotation marks that stand apart or are written with commas
        case("Dit is goed.| ,,Ik denk het ook,'' zei hij.| Ja.", "nl"),
        case("Dit is goed.| ,, Ik denk het ook. ''| Toen ging hij.", "nl"),
        case("Dit is goed., zei hij.", "nl"),
        case("Do you know it ? ''| Then he left."),
        case("' It is warm . '| Then he left."),
        case("He left.| 'Twas warm."),
        case('" It is warm . "| Then he left.'),
        case('"It is warm. She likes it," he said.| "I do."'.replace("warm. ", "warm.| ")),
        case('Trời ấm... ".| Rồi anh đi.', "vi"),
        # an ellipsis that begins a sentence, or stands for words left out
        case("He sighed.| …The door opened."),
        case("He sighed.| ...The door opened."),
        case("He sighed. . .| The door opened."),
        case("It is warm? (...)| The gym is not."),
        case("It is warm.| (The gym is not.)"),
        # labels and smiles
        case("Two things hold.| (a) The pool is warm.| (b) The gym is not."),
        case("It is as in clause four. (a) above holds."),
        case("It is warm! )))| Then he left."),
        # names with an exclamation mark, titles in parted tokens
        case("She works at Yahoo! in the accounting department.| It is big."),
        case("She works at Yahoo!| The firm is big."),
        case("Elle travaille chez Yahoo! France aujourd’hui.| Bien.", "fr"),
        case("The film Father Came Too ! is a comedy .| It is old ."),
        case("It is warm !| come in ."),
        # degrees, thousands, words in an open bracket, tokens parted
        case("She earned her Ph.D.| Tom was impressed."),
        case("The Ph.D. thesis is long.| Ada Kim, Ph.D. Candidate, wrote it."),
        case("Giá là 400. 000 đồng.| Rẻ.", "vi"),
        case("Nó mở năm 2010.| 500 người đến.", "vi"),
        case("It opened in 45.| 300 people came."),
        case("The town (pop. 256,000) is old (see [page. 42]).| It is warm."),
        case("It is old (very old.) 9 people came.| Yes."),
        case("It crosses Route 171/U.S . Highway 190 there .| It ends ."),
        case("(1). Bring a towel.|\n(2). Swim."),
    ],
)
def test_ends(joined: str, language: str) -> None:
    parts = joined.split("|")
    assert texts("".join(parts), language) == [part.strip() for part in parts]


def kinds(text: str, language: str = "en", **options: object) -> list[tuple[str, str]]:
    texts(text, language, **options)
    return [(sentence.kind, sentence.text) for sentence in split(text, language, **options)]


def test_headings_are_short() -> None:
    long = "# " + "word " * 13
    assert kinds("## Fees\nIt costs 40 cents.") == [("heading", "## Fees"), ("prose", "It costs 40 cents.")]
    assert kinds(long + "\nEnd.")[0][0] == "prose"
    assert kinds("#hashtag is no heading.") == [("prose", "#hashtag is no heading.")]


def test_the_first_row_of_a_table_is_its_head() -> None:
    found = kinds("| club | day |\n|---|---|\n| chess | Friday [S1] |\n\n| a | b |\nAfter it.")
    assert [kind for kind, _ in found] == ["heading", "row", "row", "heading", "prose"]


@pytest.mark.parametrize("behind", ["\n\nText.", "\n- item\n", "\n1. item\n", "\n```\ncode\n```", "\n| a | b |\n", "\n> quoted\n"])
def test_a_lead_in_ends_in_a_colon_before_a_block(behind: str) -> None:
    assert kinds("These clubs meet:" + behind)[0] == ("lead_in", "These clubs meet:")
    assert kinds("These clubs meet [S1]:" + behind)[0] == ("lead_in", "These clubs meet [S1]:")
    assert kinds("word " * 41 + "meet:" + behind)[0][0] == "prose"


def test_a_colon_in_running_text_leads_nothing_in() -> None:
    assert kinds("These clubs meet: chess and AI. Good.")[0] == ("prose", "These clubs meet: chess and AI.")


def test_items_and_their_markers() -> None:
    text = "1. [S1] Bread is sold.\n2. Milk [S2]\n- (a) x\n• eggs [S3]"
    assert [(kind, text) for kind, text in kinds(text)] == [
        ("item", "1. [S1] Bread is sold."),
        ("item", "2. Milk [S2]"),
        ("item", "- (a) x"),
        ("item", "• eggs [S3]"),
    ]
    assert [sentence.markers for sentence in split(text)] == [(1,), (2,), (), (3,)]


def test_markers_at_a_line_start_belong_to_what_follows() -> None:
    assert texts("It opens.\n[S1] Lockers are free.") == ["It opens.", "[S1] Lockers are free."]
    assert texts("It opens.\n[S1]\nLockers are free.") == ["It opens.\n[S1]", "Lockers are free."]
    assert texts("It opens.\n\n[S1] Lockers are free.") == ["It opens.", "[S1] Lockers are free."]


def test_a_fence_is_read_by_lines() -> None:
    text = "Run this [S2]:\n```python\nx = [S1]\n\nprint(x). Next\n```\nDone [S1]."
    found = split(text)
    assert texts(text) == ["Run this [S2]:", "```python\nx = [S1]", "print(x). Next", "```", "Done [S1]."]
    assert [sentence.kind for sentence in found] == ["lead_in", "code", "code", "code", "prose"]
    assert [sentence.cites for sentence in found[1:4]] == [(2,)] * 3
    assert [sentence.markers for sentence in found[1:4]] == [()] * 3
    assert texts("~~~~\na\n~~~\nb\n~~~~\nEnd.") == ["~~~~\na", "~~~", "b", "~~~~", "End."]


def test_inline_code_opens_no_fence() -> None:
    assert texts("```x``` is inline. Yes.\nMore.") == ["```x``` is inline.", "Yes.", "More."]


def test_the_second_break_of_a_blank_line_is_certain() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("A headline\n") == []
    assert [sentence.text for sentence in splitter.feed("\n")] == ["A headline"]


def test_the_next_character_is_certain() -> None:
    for behind in (" L", ' "', " [S1] L", " –"):
        splitter = SentenceSplitter()
        assert splitter.feed("The pool opens." + behind[:-1]) == []
        assert len(splitter.feed(behind[-1])) == 1


def test_the_ceiling_cuts_at_white_space_and_parts_nothing() -> None:
    word = "Lockers "
    found = split(word * 30, max_chars=50)
    assert all(len(sentence.text) <= 50 and sentence.text.split() == ["Lockers"] * len(sentence.text.split()) for sentence in found)
    kept = split("x" * 40 + " 1 200 000 people [S1, S2] came", max_chars=50)
    assert kept[0].text == "x" * 40
    assert all("[S" not in sentence.text or "]" in sentence.text for sentence in kept)
    family = "👨‍👩‍👧‍👦" * 30
    assert all(not sentence.text.startswith("\u200d") and not sentence.text.endswith("\u200d") for sentence in split(family, max_chars=50))


def test_white_space_beyond_the_ceiling_comes_by_itself() -> None:
    found = split("One." + " " * 120 + "Two.", max_chars=50)
    assert [(sentence.text, len(sentence.lead)) for sentence in found] == [("One.", 0), ("", 50), ("", 50), ("Two.", 20)]


def test_flush_gives_the_rest_once() -> None:
    splitter = SentenceSplitter()
    splitter.feed("One. Two")
    assert splitter.pending == " Two"
    tail = splitter.flush()
    assert tail is not None
    assert (tail.text, tail.lead, tail.start) == ("Two", " ", 5)
    assert splitter.flush() is None
    assert SentenceSplitter().flush() is None


def test_another_script_is_split_by_its_own_rules() -> None:
    assert texts("The word is यह खुला है। कल बंद है। End.") == ["The word is यह खुला है।", "कल बंद है।", "End."]
    assert texts("他说 it opens at 9 a.m. daily。Then.", "zh")[0].startswith("他说")


def test_sentences_are_values_and_hide_their_text() -> None:
    (first,), (second,) = split("Secret text."), split("Secret text.")
    assert first == second
    assert hash(first) == hash(second)
    assert "Secret" not in repr(first)


@pytest.mark.parametrize(
    "wrong", [{"language": "xx"}, {"language": 3}, {"markers": "unknown"}, {"max_chars": 0}, {"max_chars": True}, {"max_chars": "9"}]
)
def test_wrong_use_is_told(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        SentenceSplitter(**wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        SentenceSplitter().feed(b"bytes")  # type: ignore[arg-type]


def test_any_style_of_marker() -> None:
    (first, _) = split("It opens. {ref 2} Lockers.", markers=MarkerStyle("{ref {n}}"))
    assert (first.text, first.markers) == ("It opens. {ref 2}", (2,))


FLOODS = [
    "word ", "a", "[S1]", "[S1, ", "[S", " ", "\n", ". ", "... ", "! ", ".", '"', "'", "' ", "([{", "1. ", "a. ", "- ", "\n- ", "\n| a |",
    "```\n",
    "\n```", "e\u0301", "字", "。", "「", "A. ", "J. R. ", "e.g. ", "1,", ": ", "\n> ", "#", "\n# ", "*", "\u200d", "x. [1] ", "he said. ",
    "\u0301", "x. (", "x. (a) ", ". )", ",,", ". ,, ", "x. …y ", "it. it ", "http. ", "(a. 1 ", "1. 000 ",
    "Yahoo! ", "X ! ", ". '' ", "her M.D. T",
]  # fmt: skip


@pytest.mark.parametrize("flood", FLOODS)
@pytest.mark.parametrize("size", [1, 0])
def test_the_cost_grows_with_the_text(flood: str, size: int) -> None:
    def cost(length: int) -> float:
        text = (flood * (length // len(flood) + 1))[:length]
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            split(text, size=size or length)
            best = min(best, time.process_time() - started)
        return best

    cost(1000)
    assert cost(16_000) < 8 * 2.4 * cost(2_000) + 0.05
