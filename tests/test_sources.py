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


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("de", "Im Dezember 2017 kamen 20,4 Millionen Menschen, also ein Viertel mehr."),
        ("fr", "En décembre 2017, 2,8 milliards de livres ont été versés."),
        ("es", "En enero de 2016 llegaron 20 millones de personas."),
        ("it", "Nel gennaio 2016 sono arrivate 20 milioni di persone."),
        ("pt", "Em janeiro de 2016 chegaram 20 milhões de pessoas."),
        ("nl", "In maart 2016 kwamen er 20 miljoen mensen."),
        ("tr", "Ocak 2016'da 20 milyon kişi geldi ve bu bir rekor oldu."),
        ("pl", "W styczniu 2016 przyszło 20 milionów osób."),
        ("id", "Pada bulan Januari 2016 datang 20 juta orang."),
        ("vi", "Vào tháng 1 năm 2016 có 20 triệu người đến."),
    ],
)
def test_a_source_without_a_language_is_read_in_the_one_that_its_words_speak_for(code: str, sentence: str) -> None:
    assert judge(f"{sentence} [S1]", [sentence], Policy(language=code)).status == "accepted"


def test_words_of_another_language_are_not_read() -> None:
    assert judge("10 kişi geldi [S1].", ["He went on and on about it in the house."], Policy(language="tr")).status == "stopped"


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
