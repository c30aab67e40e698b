"""The index of what each source says."""

from __future__ import annotations

import threading

import pytest

from sentence_gate import Policy, SentenceGate, Source, Sources, UsageError, judge


def test_numbers_ids_titles_urls() -> None:
    sources = Sources([Source("Body.", title="Fees of 2031", url="https://pool.example/fees"), "second"])
    assert len(sources) == 2
    assert [source.text for source in sources] == ["Body.", "second"]
    assert judge("See https://pool.example/fees of 2031 [S1].", sources).status == "accepted"
    assert judge("See https://pool.example/fees of 2031 [S2].", sources).status == "stopped"
    assert [source.id for source in Sources({"a": "x", "b": "y"})] == ["a", "b"]


def test_number_words_are_read_in_the_language_of_the_source() -> None:
    assert judge("Es kostet 12 Euro [S1].", [Source("Es kostet zwölf Euro.", language="de")], Policy(language="de")).status == "accepted"
    assert judge("Il coûte 11 [S1].", [Source("on it", language="en")]).status == "stopped"
    assert judge("قیمت ۱۲ تومان است [S1].", ["قیمت دوازده تومان است."], Policy(language="fa")).status == "accepted"


def test_an_unknown_language_of_a_source_is_read_by_its_script() -> None:
    assert judge("It has 12 [S1].", [Source("It has twelve.", language="tlh")]).status == "accepted"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Source(7),
        lambda: Source("x", id=7),
        lambda: Source("x", url=b"y"),
        lambda: Sources("bare"),
        lambda: Sources([None]),
        lambda: Sources({7: "x"}),
    ],
)
def test_wrong_sources_say_what_is_accepted(wrong) -> None:
    with pytest.raises(UsageError, match="str"):
        wrong()


def test_duplicate_ids_are_named() -> None:
    with pytest.raises(UsageError, match="'a'"):
        Sources([Source("x", id="a"), Source("y", id="a")])


def test_shared_by_threads() -> None:
    sources, results = Sources(["The pool opens at 8.", "It costs 45."]), []

    def run(number: int) -> None:
        for _ in range(50):
            gate = SentenceGate(sources)
            gate.feed(f"It costs {number} [S2]. ")
            gate.finish()
            results.append((number == 45) == (gate.report.status == "accepted"))

    threads = [threading.Thread(target=run, args=(number,)) for number in (45, 8, 46, 45)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 200
    assert all(results)


def test_repr_hides_the_text() -> None:
    assert "secret" not in repr(Sources(["secret"])) + repr(Source("secret"))
