"""Values and first person in languages of Europe, Turkey, Indonesia and Vietnam: what a source writes otherwise, what it doesn't have."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, judge

SUPPORTED = [
    ("it", "Ci sono 108 alberi [S1].", "Nel parco ci sono centotto alberi."),
    ("it", "Ci sono 281 alberi [S1].", "Ci sono duecentottantuno alberi."),
    ("it", "Il museo ha 2.350.000 visitatori [S1].", "due milioni trecentocinquantamila visitatori"),
    ("it", "Il museo apre alle 9:30 [S1].", "Apre alle ore 9.30."),
    ("it", "Il museo chiude alle 18 [S1].", "chiude alle 6 di sera"),
    ("it", "Aperto il 1º maggio 2019 [S1].", "opened on 1 May 2019"),
    ("it", "Aperto l'8 marzo [S1].", "aperto dall'8 marzo"),
    ("it", "Nel 1979 e negli anni '80 [S1].", "1979, gli anni Ottanta, 1980s"),
    ("it", "Costa 1.250,50 euro [S1].", "EUR 1,250.50"),
    ("it", "Il terzo piano ha 2,5 milioni di libri [S1].", "2.500.000 libri al 3º piano"),
    ("nl", "Er staan 325 bomen [S1].", "Er staan driehonderdvijfentwintig bomen van het park."),
    ("nl", "Het museum had 2.350.000 bezoekers [S1].", "twee miljoen driehonderdvijftigduizend bezoekers"),
    ("nl", "Open van 9.00 tot 17.00 uur [S1].", "open 9:00-17:00"),
    ("nl", "Open op 5 mei 2019 [S1].", "opened on 5 May 2019"),
    ("nl", "Gebouwd in de jaren 90 [S1].", "built in the 1990s"),
    ("nl", "Het kost € 12,50 [S1].", "12.50 euros"),
    ("nl", "De 3e verdieping, 5de deur [S1].", "derde verdieping, vijfde deur"),
    ("nl", "Om 7 uur 's avonds sluit het [S1].", "closes at 19:00"),
    ("nl", "Er zijn 1,5 miljoen boeken [S1].", "anderhalf miljoen boeken; 1.500.000"),
    ("pl", "W parku rośnie 325 drzew [S1].", "trzysta dwadzieścia pięć drzew"),
    ("pl", "Muzeum otwarto 3 maja 1979 r. [S1]", "opened on 3 May 1979"),
    ("pl", "Muzeum otwarto 3 V 1979 r. [S1]", "3 maja 1979"),
    ("pl", "Otwarte w godz. 9.00–17.00 [S1].", "9:00-17:00"),
    ("pl", "Zbudowano w latach 90. [S1]", "built in the 1990s"),
    ("pl", "Bilety kupiło 150 tys. osób [S1].", "150 000 osób"),
    ("pl", "Bilety kupiło 1,5 mln osób [S1].", "półtora miliona osób; 1 500 000"),
    ("pl", "Zamykają o 19:00 [S1].", "Muzeum jest zamykane o 7 wieczorem"),
    ("pl", "Kosztuje 12,50 zł [S1].", "PLN 12.50"),
    ("tr", "Bahçede 325 ağaç var [S1].", "üç yüz yirmi beş ağaç"),
    ("tr", "Bahçede 325 ağaç var [S1].", "Bu bahçede üçyüzyirmibeş ağaç var"),
    ("tr", "Müze 3 Mayıs 1979'da açıldı [S1].", "opened on 3 May 1979"),
    ("tr", "Saat 09.00–17.00 arası açıktır [S1].", "9:00-17:00"),
    ("tr", "1990'larda yapıldı [S1].", "built in the 1990s"),
    ("tr", "90'lı yıllarda yapıldı [S1].", "built in the 1990s"),
    ("tr", "Bilet %20 ucuzladı [S1].", "yüzde 20"),
    ("tr", "Bilet 1.250,50 TL [S1].", "1,250.50 lira"),
    ("tr", "Müzeyi 150 bin kişi gezdi [S1].", "150.000 kişi"),
    ("tr", "Müzeyi 1,5 milyon kişi gezdi [S1].", "1.500.000 kişi"),
    ("tr", "Akşam 7'de kapanır [S1].", "19:00'da kapanır"),
    ("id", "Ada 325 pohon [S1].", "tiga ratus dua puluh lima pohon"),
    ("id", "Dibuka pada 3 Mei 1979 [S1].", "opened on 3 May 1979"),
    ("id", "Buka pukul 09.00–17.00 WIB [S1].", "9:00-17:00"),
    ("id", "Dibangun pada tahun 1990-an [S1].", "built in the 1990s"),
    ("id", "Harganya Rp150.000 [S1].", "150,000 rupiah"),
    ("id", "Harganya Rp1,5 juta [S1].", "1.500.000 rupiah"),
    ("id", "Tutup jam 7 malam [S1].", "tutup pukul 19.00"),
    ("id", "Abad ke-19 dan lantai ke-3 [S1].", "abad kesembilan belas, lantai tiga"),
    ("vi", "Có 325 cây [S1].", "ba trăm hai mươi lăm cây"),
    ("vi", "Mở cửa ngày 3 tháng 5 năm 1979 [S1].", "opened on 3 May 1979"),
    ("vi", "Mở cửa ngày 3/5/1979 [S1].", "ngày 3 tháng 5 năm 1979"),
    ("vi", "Mở cửa từ 8h30 đến 17h [S1].", "8:30-17:00"),
    ("vi", "Đóng cửa lúc 7 giờ tối [S1].", "19:00"),
    ("vi", "Giá vé 150.000 đồng [S1].", "150,000 VND"),
    ("vi", "Giá vé 150 nghìn đồng [S1].", "150.000 đồng"),
    ("vi", "Có 1,5 triệu lượt khách [S1].", "1.500.000 lượt khách"),
    ("vi", "Xây vào thập niên 1990 [S1].", "built in the 1990s"),
    ("uk", "У саду 325 дерев [S1].", "У саді її росте триста двадцять п'ять дерев"),
    ("uk", "Музей відкрито 3 травня 1979 р. [S1]", "opened on 3 May 1979"),
    ("uk", "Музей відкрито 3 травня 1979 року [S1].", "3.05.1979"),
    ("uk", "Відчинено з 9:00 до 17:00 [S1].", "з 9 до 17 години"),
    ("uk", "Збудовано у 1990-х роках [S1].", "built in the 1990s"),
    ("uk", "Квитки купили 150 тис. осіб [S1].", "150 000 осіб"),
    ("uk", "Квитки купили 1,5 млн осіб [S1].", "півтора мільйона; 1 500 000"),
    ("uk", "Зачиняється о 7 вечора [S1].", "о 19:00"),
    ("el", "Υπάρχουν 325 δέντρα [S1].", "τριακόσια είκοσι πέντε δέντρα"),
    ("el", "Άνοιξε στις 3 Μαΐου 1979 [S1].", "opened on 3 May 1979"),
    ("el", "Ανοιχτό από 9:00 έως 17:00 [S1].", "9:00 π.μ. – 5:00 μ.μ."),
    ("el", "Κλείνει στις 5 μ.μ. [S1]", "κλείνει στις 17:00"),
    ("el", "Χτίστηκε τη δεκαετία του 1990 [S1].", "built in the 1990s"),
    ("el", "Κοστίζει 1.250,50 ευρώ [S1].", "1,250.50 euros"),
    ("el", "Ήρθαν 150 χιλ. επισκέπτες [S1].", "150.000 επισκέπτες"),
    ("el", "Ήρθαν 1,5 εκατ. επισκέπτες [S1].", "ενάμισι εκατομμύριο; 1.500.000"),
    ("el", "Τον 19ο αιώνα [S1].", "δέκατος ένατος αιώνας, 19ος αιώνας"),
    ("es", "El 13.º aniversario [S1].", "Fue el décimo tercero de los aniversarios."),
    ("pt", "O 21.º aniversário [S1].", "Foi o vigésimo primeiro aniversário, não o primeiro."),
    ("pl", "W 21. rocznicę [S1].", "Była to dwudziesta pierwsza rocznica."),
    ("it", "Il 28º anniversario [S1].", "Era il ventottesimo anniversario della chiesa."),
    ("id", "Ulang tahun ke-100 [S1].", "Ini adalah ulang tahun keseratus."),
    ("it", "Aperto il 3 mag. 2019 [S1].", "aperto il 3 maggio 2019"),
    ("it", "Un milione e mezzo di persone [S1].", "1.500.000 persone"),
    ("it", "Ci vivono 1.500.000 persone [S1].", "Ci vivono un milione e mezzo di persone."),
    ("it", "Ci vivono 2 milioni e mezzo di persone [S1].", "2.500.000 persone"),
    ("nl", "De stad telt 1.500.000 inwoners [S1].", "De stad telt anderhalf miljoen inwoners."),
    ("pl", "Mieszka tu 1 500 000 osób [S1].", "Mieszka tu półtora miliona osób."),
    ("tr", "1.500.000 kişi yaşıyor [S1].", "Bu kentte bir buçuk milyon kişi yaşıyor."),
    ("id", "Ada 1.500.000 orang [S1].", "Ada satu setengah juta orang di kota ini."),
    ("vi", "Có 1.500.000 người [S1].", "Có một triệu rưỡi người trong thành phố."),
    ("uk", "Живе 1 500 000 осіб [S1].", "Тут живе півтора мільйона осіб її міста."),
    ("el", "Ζουν 1.500.000 άτομα [S1].", "ενάμισι εκατομμύριο άτομα"),
    ("en", "There are 500,000 people [S1].", "There are half a million people."),
    ("en", "There are 2,500,000 people [S1].", "There are two and a half million people."),
    ("de", "Es sind 2.500.000 Menschen [S1].", "Es sind zweieinhalb Millionen Menschen."),
    ("es", "Hay 1.500.000 personas [S1].", "Hay un millón y medio de personas."),
    ("ru", "Здесь живёт 2 500 000 человек [S1].", "Здесь живёт два с половиной миллиона человек."),
    ("fr", "Il y a 1 500 000 habitants [S1].", "Il y a un million et demi d'habitants."),
    ("el", "Υπάρχουν 21 δέντρα [S1].", "Υπάρχουν εικοσιένα δέντρα."),
    ("el", "Ανοίγει στις 3 το μεσημέρι [S1].", "15:00"),
    ("vi", "Đóng cửa lúc 12 giờ 30 [S1].", "12:30"),
    ("pl", "Otwarte do 12.30 [S1].", "9:00-12:30"),
    ("en", "It opens at 9:30 [S1].", "Open 9.30 to 17.00."),
    ("de", "Das Museum hatte 2.350.000 Gäste [S1].", "zwei Millionen dreihundertfünfzigtausend Gäste"),
    ("de", "Am 21. Mai 2019 eröffnet [S1].", "am einundzwanzigsten Mai 2019 eröffnet"),
]
UNSUPPORTED = [
    ("it", "Ci vivono 1.000.000 persone [S1].", "Ci vivono un milione e mezzo di persone."),
    ("es", "Hay 2 millones y medio de personas [S1].", "Hay 2.000.000 personas."),
    ("it", "Ci vivono 1.600.000 persone [S1].", "Ci vivono un milione e mezzo di persone."),
    ("nl", "De stad telt 2.500.000 inwoners [S1].", "De stad telt anderhalf miljoen inwoners."),
    ("pl", "W 22. rocznicę [S1].", "Była to dwudziesta pierwsza rocznica."),
    ("en", "It costs 9 euros [S1].", "It costs 9.30 euros."),
    ("pl", "Cena 12.30 [S1].", "Cena 30 zł"),
    ("it", "Ci sono 109 alberi [S1].", "Nel parco ci sono centotto alberi."),
    ("it", "Il museo ha 350.000 visitatori [S1].", "due milioni trecentocinquantamila visitatori"),
    ("it", "Chiude alle 19 [S1].", "chiude alle 6 di sera"),
    ("nl", "Het museum had 2.360.000 bezoekers [S1].", "twee miljoen driehonderdvijftigduizend bezoekers"),
    ("nl", "Open op 6 mei 2019 [S1].", "opened on 5 May 2019"),
    ("pl", "W parku rośnie 326 drzew [S1].", "trzysta dwadzieścia pięć drzew"),
    ("pl", "Otwarto 3 czerwca 1979 r. [S1]", "3 maja 1979"),
    ("tr", "Bahçede 326 ağaç var [S1].", "üç yüz yirmi beş ağaç"),
    ("tr", "Müze 3 Mart 1979'da açıldı [S1].", "3 Mayıs 1979"),
    ("id", "Ada 326 pohon [S1].", "tiga ratus dua puluh lima pohon"),
    ("id", "Harganya Rp1,5 juta [S1].", "15.000.000 rupiah"),
    ("vi", "Có 326 cây [S1].", "ba trăm hai mươi lăm cây"),
    ("vi", "Mở cửa ngày 3 tháng 6 năm 1979 [S1].", "ngày 3 tháng 5 năm 1979"),
    ("vi", "Có 1,5 triệu lượt khách [S1].", "150.000 lượt khách"),
    ("uk", "У саду 326 дерев [S1].", "триста двадцять п'ять дерев"),
    ("uk", "Відкрито 3 червня 1979 року [S1].", "3 травня 1979"),
    ("el", "Υπάρχουν 326 δέντρα [S1].", "τριακόσια είκοσι πέντε δέντρα"),
    ("el", "Κλείνει στις 6 μ.μ. [S1]", "κλείνει στις 17:00"),
    ("de", "Das Museum hatte 2.360.000 Gäste [S1].", "zwei Millionen dreihundertfünfzigtausend Gäste"),
]


def verdict(code: str, answer: str, source: str) -> list[str]:
    return [violation.check for violation in judge(answer, [source], Policy(language=code)).violations]


@pytest.mark.parametrize(("code", "answer", "source"), SUPPORTED)
def test_a_value_that_the_source_writes_otherwise(code: str, answer: str, source: str) -> None:
    assert verdict(code, answer, source) == []


@pytest.mark.parametrize(("code", "answer", "source"), UNSUPPORTED)
def test_a_value_that_the_source_does_not_have(code: str, answer: str, source: str) -> None:
    assert verdict(code, answer, source) == ["unsupported_value"]


SPOKEN = [
    ("it", "Penso che il museo sia aperto [S1]."), ("it", "Noi consigliamo la visita [S1]."),
    ("it", "Mi dispiace, il museo è chiuso [S1]."), ("it", "Non ho trovato l'orario [S1]."), ("it", "Abbiamo visto il museo [S1]."),
    ("it", "A mio avviso è aperto [S1]."), ("nl", "Ik denk dat het museum open is [S1]."), ("nl", "We raden een bezoek aan [S1]."),
    ("nl", "Volgens mij is het open [S1]."), ("nl", "Onze gids is gratis [S1]."), ("pl", "Myślę, że muzeum jest otwarte [S1]."),
    ("pl", "Moim zdaniem jest otwarte [S1]."), ("pl", "Nie znalazłem godzin [S1]."), ("pl", "Polecamy nasz sklep [S1]."),
    ("pl", "Nie mogę tego potwierdzić [S1]."), ("tr", "Müzenin açık olduğunu düşünüyorum [S1]."), ("tr", "Bence müze açık [S1]."),
    ("tr", "Bizim müzemiz büyüktür [S1]."), ("tr", "Bunu bilmiyorum [S1]."), ("tr", "Size yardımcı olabilirim [S1]."),
    ("id", "Saya pikir museum itu buka [S1]."), ("id", "Kami menyarankan kunjungan [S1]."), ("id", "Menurut saya buka [S1]."),
    ("vi", "Tôi nghĩ bảo tàng mở cửa [S1]."), ("vi", "Chúng tôi khuyên nên đến sớm [S1]."), ("vi", "Theo tôi, bảo tàng mở cửa [S1]."),
    ("uk", "Я думаю, що музей відчинено [S1]."), ("uk", "На мою думку, він відчинений [S1]."), ("uk", "Ми радимо прийти раніше [S1]."),
    ("uk", "Не можу цього підтвердити [S1]."), ("el", "Νομίζω ότι το μουσείο είναι ανοιχτό [S1]."),
    ("el", "Κατά τη γνώμη μου είναι ανοιχτό [S1]."), ("el", "Εμείς προτείνουμε επίσκεψη [S1]."), ("el", "Δεν γνωρίζω την απάντηση [S1]."),
    ("it", "Credo sia chiuso [S1]."), ("it", "Fammi sapere [S1]."), ("nl", "Mijns inziens is het dicht [S1]."),
    ("pl", "Mam nadzieję, że to pomoże [S1]."), ("pl", "Zachęcamy do wizyty [S1]."), ("tr", "Tavsiye ederim [S1]."),
    ("tr", "Bu soruya cevap veremem [S1]."), ("id", "Semoga jawabanku membantu [S1]."), ("vi", "Mình nghĩ nó đóng cửa [S1]."),
    # English in an answer of another language
    ("es", "I think that the museum is open [S1]."), ("nl", "Het museum is, I think, open [S1]."), ("ru", "Музей, I think, открыт [S1]."),
    ("es", "Then I looked at the museum [S1]."), ("id", "Museum itu I'm sure buka [S1]."),
]  # fmt: skip
UNSPOKEN = [
    ("it", "Il suo credo politico è noto [S1]."), ("pl", "Mieszko I panował długo [S1]."), ("id", "Kamis dan Jumat tutup [S1]."),
    ("it", "I musei sono aperti [S1]."), ("it", "La prima guerra mondiale, la I guerra mondiale [S1]."),
    ("it", "Vittorio Emanuele I regnò a lungo [S1]."), ("it", "Cosa Nostra è un'organizzazione [S1]."),
    ("nl", "De mijn sloot in de winter [S1]."), ("nl", "Het weegt een ons [S1]."), ("nl", "Koning Willem I opende het kanaal [S1]."),
    ("pl", "We wtorek muzeum jest zamknięte [S1]."), ("pl", "I liceum mieści się w centrum [S1]."),
    ("pl", "Kościół Mariacki i Wawel [S1]."), ("ru", "Пётр I открыл музей [S1]."), ("vi", "Thế chiến thứ I kết thúc [S1]."),
    ("es", "Durante la I guerra mundial se cerró [S1]."), ("tr", "Big Ben Londra'dadır [S1]."),
    ("tr", "I. Dünya Savaşı burada başladı [S1]."), ("tr", "Bizans döneminde yapıldı [S1]."),
    ("id", "Kitab itu ditulis oleh para ahli [S1]."), ("id", "Perang Dunia I berakhir [S1]."),
    ("vi", "Vôi tôi được dùng trong xây dựng [S1]."), ("vi", "Thép được tôi luyện ở nhiệt độ cao [S1]."),
    ("uk", "Музей має три зали [S1]."), ("uk", "Ольга Я. Коваль відкрила музей [S1]."), ("el", "Το μουσείο έχει τρεις αίθουσες [S1]."),
    ("el", "Ο Γεώργιος Α΄ εγκαινίασε το μουσείο [S1]."), ("es", "La I Guerra Mundial terminó [S1]."),
    ("es", "El I Congreso se celebró en el museo [S1]."), ("es", "La I República fue breve [S1]."),
    ("es", "La inversión en I+D creció [S1]."), ("fr", "La Ire guerre, Napoléon I et le roi [S1]."),
    ("pt", "A I Guerra Mundial terminou [S1]."), ("de", "Im I. Weltkrieg war es geschlossen [S1]."),
    ("pt", "O I Congresso foi no museu [S1]."),
]  # fmt: skip


@pytest.mark.parametrize(("code", "answer"), SPOKEN)
def test_first_person(code: str, answer: str) -> None:
    assert verdict(code, answer, "x") == ["first_person"]


@pytest.mark.parametrize(("code", "answer"), UNSPOKEN)
def test_no_first_person(code: str, answer: str) -> None:
    assert verdict(code, answer, "x") == []
