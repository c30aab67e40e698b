"""What a language writes in its own way and a source in another is one value; who speaks of themself is told from who doesn't."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, judge

SAME = [
    ("it", "Il viaggio dura 8 ore", "Il viaggio dura otto ore."),
    ("it", "Il viaggio dura 8 ore", "The trip takes 8 hours."),
    ("nl", "De reis duurt 8 uur", "The trip takes 8 hours."),
    ("vi", "Chuyến đi kéo dài 8 giờ", "The trip takes 8 hours."),
    ("it", "Nato il 3 maggio 1945", "Born on May 3, 1945."),
    ("it", "Apre alle 15:30", "It opens at 3:30 pm."),
    ("it", "Sono 1,5 milioni", "There are 1.5 million."),
    ("it", "Sono 2 miliardi", "There are 2 billion."),
    ("it", "Nel XIX secolo erano 200", "There were two hundred."),
    ("uk", "Подія сталася 3 травня 1945 року", "It was on May 3, 1945."),
    ("uk", "Їх було 1,5 млн", "There were 1.5 million."),
    ("uk", "Їх було 25 тис. осіб", "25,000 people."),
    ("uk", "Їх було 165", "Їх було сто шістдесят п’ять."),
    ("uk", "Відкриття о 19:00", "It opens at 7 pm."),
    ("uk", "Відкриття о 7 вечора", "It opens at 19:00."),
    ("uk", "У 19 столітті", "У дев’ятнадцятому столітті."),
    ("uk", "Площа 1 200 га", "Area of 1,200 ha."),
    ("uk", "Це 12 000 осіб", "Це дванадцять тисяч осіб."),
    ("uk", "У 1980-х роках", "In the 1980s."),
    ("el", "Γεννήθηκε στις 3 Μαΐου 1945", "Born on May 3, 1945."),
    ("el", "Ήταν 1,5 εκατ.", "There were 1.5 million."),
    ("el", "Ήταν 1.200", "There were 1,200."),
    ("el", "Ήταν 165", "Ήταν εκατόν εξήντα πέντε."),
    ("el", "Ανοίγει στις 7 μ.μ.", "It opens at 19:00."),
    ("el", "Τον 19ο αιώνα", "In the 19th century."),
    ("el", "Ο 4ος νόμος", "Τον 4ο νόμο."),
    ("el", "Τη δεκαετία του '80", "In the 1980s."),
    ("el", "Τη δεκαετία του 1980", "In the 1980s."),
    ("el", "Ήταν 12.000", "Ήταν δώδεκα χιλιάδες."),
    ("el", "Τον 12ο αιώνα", "Τον δωδέκατο αιώνα."),
    ("pl", "Urodzony 3 maja 1945 r.", "Born on May 3, 1945."),
    ("pl", "Było ich 25 tys.", "25,000 people"),
    ("pl", "O godz. 19.00", "It opens at 7 pm."),
    ("pl", "W latach 80. XX wieku", "In the 1980s."),
    ("pl", "W latach 80.", "In the 1980s."),
    ("tr", "3 Mayıs 1945'te doğdu", "Born on May 3, 1945."),
    ("tr", "%25 arttı", "rose by 25%"),
    ("tr", "1980'lerde", "In the 1980s."),
    ("tr", "19. yüzyılda", "in the 19th century"),
    ("tr", "saat 19.00'da", "at 7 pm"),
    ("id", "Lahir 3 Mei 1945", "Born on May 3, 1945."),
    ("id", "Pukul 19.00 WIB", "at 7 pm"),
    ("id", "Tahun 1980-an", "In the 1980s."),
    ("id", "Rp2,5 juta", "2.5 million rupiah"),
    ("id", "Ada 165 orang", "Ada seratus enam puluh lima orang."),
    ("vi", "ngày 3 tháng 5 năm 1945", "Born on May 3, 1945."),
    ("vi", "7 giờ tối", "at 7 pm"),
    ("vi", "2,5 tỷ đồng", "2.5 billion"),
    ("vi", "Có 165 người", "Có một trăm sáu mươi lăm người."),
    ("vi", "những năm 1980", "the 1980s"),
    ("nl", "De 19e eeuw", "the 19th century"),
    ("nl", "Er zijn 165", "Er zijn honderdvijfenzestig."),
    ("nl", "In de jaren 80", "In the 1980s."),
    ("nl", "Om 19.00 uur", "at 7 pm"),
    ("nl", "Er zijn 2 miljard", "2 billion"),
    ("fr", "Les années 80", "In the 1980s."),
    ("de", "In den 80er Jahren", "In the 1980s."),
    ("de", "Es sind 2,5 Milliarden", "There are 2.5 billion."),
    ("fr", "Le 3 mai 1945", "On May 3, 1945."),
    ("es", "Son 25 mil", "There are 25,000."),
    ("pt", "São 1,5 bilhão", "There are 1.5 billion."),
]
"""Language, claim, its source."""

OTHER = [
    ("it", "Nato il 3 maggio 1945", "Born on May 4, 1945."),
    ("uk", "Подія сталася 3 травня 1945 року", "It was on May 4, 1945."),
    ("el", "Ήταν 1,5 εκατ.", "There were 1.5 billion."),
    ("pl", "O godz. 19.00", "It opens at 8 pm."),
    ("tr", "3 Mayıs 1945'te doğdu", "Born on June 3, 1945."),
    ("id", "Rp2,5 juta", "2.6 million rupiah"),
    ("vi", "2,5 tỷ đồng", "2.5 million"),
    ("nl", "Er zijn 165", "Er zijn honderdvierenzestig."),
    ("de", "Es sind 2,5 Milliarden", "There are 2.5 million."),
    ("fr", "Le 3 mai 1945", "On April 3, 1945."),
    ("es", "Son 25 mil", "There are 26,000."),
    ("pt", "São 1,5 bilhão", "There are 1.5 million."),
    ("uk", "Їх було 25 тис. осіб", "26,000 people."),
    ("el", "Ήταν 165", "Ήταν εκατόν εξήντα τέσσερα."),
]
"""Language, claim, a source that says another value."""

SPEAKER = [
    ("uk", "Ми вважаємо це важливим."),
    ("uk", "Я можу відповісти."),
    ("el", "Μπορώ να απαντήσω."),
    ("el", "Εγώ το βρήκα."),
    ("it", "Mi dispiace, non lo trovo."),
    ("it", "Possiamo dire di sì."),
    ("pl", "Myślę, że tak."),
    ("pl", "To nasza odpowiedź."),
    ("nl", "Ik help graag."),
    ("tr", "Bence bu doğru."),
    ("id", "Menurut saya begitu."),
    ("vi", "Chúng tôi khuyên bạn chờ."),
    ("fr", "J'ai trouvé trois sources."),
    ("es", "Lo siento, no está."),
    ("pt", "Lamento, não está lá."),
    ("de", "Das kann ich beantworten."),
    ("en", "Sure, I can answer that."),
    ("en", "It is a favourite of mine."),
    ("en", "Let me know."),
]

NO_SPEAKER = [
    ("uk", "Це сталося до нашої ери."),
    ("uk", "Книга Я. Гая вийшла."),
    ("el", "Ο πλανήτης μας γυρίζει."),
    ("el", "Ήρθε με το τρένο."),
    ("it", "Ho Chi Minh nacque nel villaggio."),
    ("it", "Il nostro pianeta gira."),
    ("it", "Ci sono musei."),
    ("pl", "Naszą planetę widać."),
    ("nl", "De mijn sloot vroeg."),
    ("nl", "Een ons kaas is genoeg."),
    ("tr", "Big Ben Londra'dadır."),
    ("id", "Planet kita berputar."),
    ("vi", "Vôi tôi có màu trắng."),
    ("fr", "Notre planète tourne."),
    ("fr", "Yo-Yo Ma joue."),
    ("es", "Nuestro planeta gira."),
    ("pt", "Os nós da rede caem."),
    ("pt", "Gaspar de Lemos chegou."),
    ("de", "Die Raumstation Mir flog."),
    ("de", "Unser Planet dreht sich."),
    ("en", "The coal mine closed."),
    ("en", "Our solar system has planets."),
    ("en", "The film I, Robot was shown."),
    ("en", "Louis I ruled."),
    ("en", "US troops left."),
]


def failed(code: str, claim: str, source: str) -> set[str]:
    report = judge(f"{claim} [S1]", [source], Policy(language=code))
    return {violation.check for violation in report.violations}


@pytest.mark.parametrize(("code", "claim", "source"), SAME)
def test_a_value_in_another_notation_is_vouched_for(code: str, claim: str, source: str) -> None:
    assert not failed(code, claim, source)


@pytest.mark.parametrize(("code", "claim", "source"), OTHER)
def test_another_value_is_not(code: str, claim: str, source: str) -> None:
    assert failed(code, claim, source) == {"unsupported_value"}


@pytest.mark.parametrize(("code", "claim"), SPEAKER)
def test_first_person_stops(code: str, claim: str) -> None:
    assert failed(code, claim, "-") == {"first_person"}


@pytest.mark.parametrize(("code", "claim"), NO_SPEAKER)
def test_names_nouns_and_everybody_are_no_first_person(code: str, claim: str) -> None:
    assert not failed(code, claim, claim)
