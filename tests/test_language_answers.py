"""An answer as a model writes it, one a language: what its source says in other notations is released, another year or sum is not."""

from __future__ import annotations

import pytest

from sentence_gate import Policy, judge

ANSWERS = {
    "fa": (
        (
            "**ساعات کاری**\n\n"
            "- شنبه تا چهارشنبه: ۸ تا ۱۶ [S1]\n"
            "- پنج‌شنبه: ۸ تا ۱۲ [S1]\n\n"
            "ورودی برای دانشجویان ۲۰ هزار تومان است [S1]. این مجموعه در سال ۱۳۵۸ (۱۹۷۹ میلادی) افتتاح شد [S1]."
        ),
        "شنبه تا چهارشنبه از ساعت ۸ تا ۱۶ و پنج‌شنبه‌ها ۸ تا ۱۲. ورودی دانشجویی: بیست هزار تومان. افتتاح: ۱۳۵۸ (1979).",
        ("۱۳۵۸", "۱۳۵۹"),
    ),
    "ar": (
        (
            "**ساعات العمل**\n\n"
            "1. من السبت إلى الأربعاء: 8 صباحًا – 4 مساءً [S1].\n"
            "2. الخميس: حتى 12 ظهرًا [S1].\n\n"
            "افتُتح المتحف عام 1979م، ورسم الدخول 20 ألف ليرة [S1]."
        ),
        "من السبت إلى الأربعاء من 8:00 إلى 16:00، والخميس حتى 12:00. افتتح سنة 1979. الدخول 20,000 ليرة.",
        ("1979", "1978"),
    ),
    "hi": (
        "**समय:**\n\n- सोमवार से शुक्रवार: सुबह 9 बजे से शाम 5 बजे तक [S1]\n\nसंग्रहालय 1979 में खुला [S1]। टिकट 1,50,000 लोगों ने खरीदे [S1]।",
        "सोमवार से शुक्रवार 9:00–17:00. 1979 में स्थापित. डेढ़ लाख (150,000) टिकट बिके.",
        ("1,50,000", "1,60,000"),
    ),
    "zh": (
        "**开放时间**\n\n- 周一至周五：上午9点至下午5点[S1]\n\n博物馆于1979年5月3日开馆[S1]。共有15万名观众，占全市人口的2.5%[S1]。",
        "周一至周五9:00-17:00。1979年5月3日开馆。观众150,000人，占2.5%。",
        ("15万", "16万"),
    ),
    "ru": (
        "**Часы работы**\n\n- пн–пт: с 9:00 до 17:00 [S1]\n\nМузей открыт 3 мая 1979 г. [S1] Билеты купили 150 тыс. человек [S1].",
        "Понедельник — пятница: 9:00–17:00. Открыт 3.05.1979. Продано 150 000 билетов.",
        ("3 мая", "4 мая"),
    ),
    "ur": (
        "**اوقات:**\n\n- پیر تا جمعہ: صبح 9 بجے سے شام 5 بجے تک [S1]\n\nعجائب گھر 3 مئی 1979 کو کھلا [S1]۔ 1.5 لاکھ ٹکٹ فروخت ہوئے [S1]۔",
        "پیر تا جمعہ 9:00–17:00۔ 3 مئی 1979۔ 150,000 ٹکٹ",
        ("1.5", "1.6"),
    ),
    "ja": (
        (
            "**開館時間**\n\n"
            "- 月曜日〜金曜日：午前9時〜午後5時 [S1]\n\n"
            "博物館は1979年5月3日に開館しました [S1]。入場者は15万人で、全体の2.5%にあたります [S1]。"
        ),
        "月〜金 9:00-17:00。1979年5月3日開館。入場者150,000人（2.5%）。",
        ("午後5時", "午後6時"),
    ),
    "ko": (
        (
            "**운영 시간**\n\n"
            "- 월요일~금요일: 오전 9시~오후 5시 [S1]\n\n"
            "박물관은 1979년 5월 3일에 문을 열었습니다 [S1]. 관람객은 15만 명으로 전체의 2.5%입니다 [S1]."
        ),
        "월~금 9:00-17:00. 1979년 5월 3일 개관. 관람객 150,000명(2.5%).",
        ("15만", "16만"),
    ),
    "he": (
        "**שעות פתיחה**\n\n- ימים א׳–ה׳: 9:00–17:00 [S1]\n\nהמוזיאון נפתח ב-3 במאי 1979 [S1]. נמכרו כ-150 אלף כרטיסים [S1].",
        "א׳–ה׳ 9:00–17:00. נפתח 3.5.1979. 150,000 כרטיסים.",
        ("3 במאי", "3 ביוני"),
    ),
    "bn": (
        "**সময়সূচি:**\n\n- সোমবার থেকে শুক্রবার: সকাল ৯টা থেকে বিকেল ৫টা [S1]\n\nজাদুঘরটি ১৯৭৯ সালের ৩ মে খোলে [S1]। দেড় লাখ টিকিট বিক্রি হয় [S1]।",
        "সোম–শুক্র ৯:০০–১৭:০০। ৩ মে ১৯৭৯। ১,৫০,০০০ টিকিট।",
        ("৩ মে", "৩ জুন"),
    ),
    "hy": (
        (
            "**Ժամերը**\n\n"
            "- Երկուշաբթիից ուրբաթ՝ 9:00–17:00 [S1]\n\n"
            "Թանգարանը բացվել է 1979 թվականի մայիսի 3-ին [S1]։ Վաճառվել է 150 հազար տոմս [S1]։"
        ),
        "Երկ.–ուրբ. 9:00–17:00։ Բացվել է 1979 թ. մայիսի 3-ին։ 150 000 տոմս։",
        ("1979", "1978"),
    ),
    "th": (
        "**เวลาเปิด**\n\n- วันจันทร์–ศุกร์: 9.00–17.00 น. [S1]\n\nพิพิธภัณฑ์เปิดเมื่อวันที่ 3 พฤษภาคม พ.ศ. 2522 [S1]\nขายตั๋วได้ 1.5 แสนใบ [S1]",
        "จันทร์–ศุกร์ 9:00-17:00 เปิด 3 พ.ค. 2522 ตั๋ว 150,000 ใบ",
        ("1.5 แสน", "1.5 ล้าน"),
    ),
    "am": (
        "**ሰዓታት**\n\n- ከሰኞ እስከ ዓርብ፦ ከ9:00 እስከ 17:00 [S1]\n\nሙዚየሙ በ1979 ተከፈተ [S1]። 150 ሺህ ትኬቶች ተሸጡ [S1]።",
        "ሰኞ–ዓርብ 9:00–17:00። በ1979 ተከፈተ። 150,000 ትኬት።",
        ("150 ሺህ", "150 ሚሊዮን"),
    ),
    "it": (
        (
            "**Orari di apertura**\n\n"
            "- dal lunedì al venerdì: dalle 9:00 alle 17:00 [S1]\n"
            "- sabato: fino alle 12.30 [S1]\n\n"
            "Il museo è stato inaugurato il 3 maggio 1979 [S1]. Sono stati venduti 150 mila biglietti, il 2,5% in più [S1]."
        ),
        "Lun–ven 9–17, sab. 9–12:30. Inaugurato il 3/5/1979. Venduti 150.000 biglietti (+2,5 %).",
        ("3 maggio", "4 maggio"),
    ),
    "nl": (
        (
            "**Openingstijden**\n\n"
            "- maandag t/m vrijdag: 9.00–17.00 uur [S1]\n"
            "- zaterdag: tot 12.30 uur [S1]\n\n"
            "Het museum is op 3 mei 1979 geopend [S1]. Er zijn 150.000 kaartjes verkocht, 2,5% meer [S1]."
        ),
        "Ma–vr 9:00–17:00, za 9:00–12:30. Geopend op 3-5-1979. 150 duizend kaartjes (2,5 procent meer).",
        ("12.30", "12.45"),
    ),
    "pl": (
        (
            "**Godziny otwarcia**\n\n"
            "- od poniedziałku do piątku: 9.00–17.00 [S1]\n"
            "- sobota: do 12.30 [S1]\n\n"
            "Muzeum otwarto 3 maja 1979 r. [S1] Sprzedano 150 tys. biletów, o 2,5% więcej [S1]."
        ),
        "Pon.–pt. 9:00–17:00, sob. 9:00–12:30. Otwarte 3.05.1979. Sprzedano 150 000 biletów (wzrost o 2,5 proc.).",
        ("12.30", "12.45"),
    ),
    "tr": (
        (
            "**Açılış saatleri**\n\n"
            "- Pazartesi–Cuma: 09.00–17.00 [S1]\n"
            "- Cumartesi: 12.30'a kadar [S1]\n\n"
            "Müze 3 Mayıs 1979'da açıldı [S1]. 150 bin bilet satıldı, artış %2,5 [S1]."
        ),
        "Pzt–Cum 9:00–17:00, Cmt 9:00–12:30. Açılış: 03.05.1979. 150.000 bilet (yüzde 2,5 artış).",
        ("150 bin", "160 bin"),
    ),
    "id": (
        (
            "**Jam buka**\n\n"
            "- Senin–Jumat: pukul 09.00–17.00 WIB [S1]\n"
            "- Sabtu: sampai pukul 12.30 [S1]\n\n"
            "Museum ini dibuka pada 3 Mei 1979 [S1]. Sebanyak 150 ribu tiket terjual, naik 2,5% [S1]."
        ),
        "Sen–Jum 9:00–17:00, Sab 9:00–12:30. Dibuka 3/5/1979. 150.000 tiket terjual (naik 2,5 persen).",
        ("150 ribu", "150 juta"),
    ),
    "vi": (
        (
            "**Giờ mở cửa**\n\n"
            "- Thứ Hai đến thứ Sáu: 9h00–17h00 [S1]\n"
            "- Thứ Bảy: đến 12 giờ 30 [S1]\n\n"
            "Bảo tàng mở cửa ngày 3 tháng 5 năm 1979 [S1]. Đã bán 150 nghìn vé, tăng 2,5% [S1]."
        ),
        "T2–T6 9:00–17:00, T7 9:00–12:30. Khai trương 3/5/1979. Bán 150.000 vé (tăng 2,5 phần trăm).",
        ("12 giờ 30", "12 giờ 45"),
    ),
    "uk": (
        (
            "**Години роботи**\n\n"
            "- понеділок – п’ятниця: з 9:00 до 17:00 [S1]\n"
            "- субота: до 12:30 [S1]\n\n"
            "Музей відкрили 3 травня 1979 р. [S1] Продано 150 тис. квитків, на 2,5 % більше [S1]."
        ),
        "Пн–пт 9:00–17:00, сб 9:00–12:30. Відкрито 03.05.1979. Продано 150 000 квитків (+2,5 відсотка).",
        ("3 травня", "3 червня"),
    ),
    "el": (
        (
            "**Ώρες λειτουργίας**\n\n"
            "- Δευτέρα–Παρασκευή: 9:00 π.μ. – 5:00 μ.μ. [S1]\n"
            "- Σάββατο: έως τις 12:30 [S1]\n\n"
            "Το μουσείο άνοιξε στις 3 Μαΐου 1979 [S1]. Πουλήθηκαν 150 χιλιάδες εισιτήρια, αύξηση 2,5% [S1]."
        ),
        "Δευ–Παρ 9:00–17:00, Σάβ 9:00–12:30. Άνοιξε 3/5/1979. 150.000 εισιτήρια (αύξηση 2,5 τοις εκατό).",
        ("5:00 μ.μ.", "6:00 μ.μ."),
    ),
    "de": (
        (
            "**Öffnungszeiten**\n\n"
            "- Montag bis Freitag: 9–17 Uhr [S1]\n"
            "- Samstag: bis 12.30 Uhr [S1]\n\n"
            "Das Museum wurde am 3. Mai 1979 eröffnet [S1]. 150.000 Karten wurden verkauft, 2,5 % mehr [S1]."
        ),
        "Mo–Fr 9:00–17:00, Sa 9:00–12:30. Eröffnet 3.5.1979. 150 000 Karten (plus 2,5 Prozent).",
        ("9–17 Uhr", "9–18 Uhr"),
    ),
    "fr": (
        (
            "**Horaires**\n\n"
            "- du lundi au vendredi : de 9 h à 17 h [S1]\n"
            "- samedi : jusqu’à 12 h 30 [S1]\n\n"
            "Le musée a ouvert le 3 mai 1979 [S1]. 150 000 billets ont été vendus, soit 2,5 % de plus [S1]."
        ),
        "Lun–ven 9:00–17:00, sam 9:00–12:30. Ouvert le 03/05/1979. 150.000 billets (+2,5%).",
        ("12 h 30", "12 h 45"),
    ),
    "es": (
        (
            "**Horario**\n\n"
            "- de lunes a viernes: de 9:00 a 17:00 h [S1]\n"
            "- sábado: hasta las 12:30 [S1]\n\n"
            "El museo abrió el 3 de mayo de 1979 [S1]. Se vendieron 150 mil entradas, un 2,5 % más [S1]."
        ),
        "L–V 9–17 h, sáb. 9–12.30 h. Abierto el 3/5/1979. 150.000 entradas (+2,5 %).",
        ("150 mil", "150 millones"),
    ),
    "pt": (
        (
            "**Horário**\n\n"
            "- segunda a sexta: das 9h às 17h [S1]\n"
            "- sábado: até às 12h30 [S1]\n\n"
            "O museu abriu a 3 de maio de 1979 [S1]. Foram vendidos 150 mil bilhetes, mais 2,5% [S1]."
        ),
        "Seg–sex 9:00–17:00, sáb. 9:00–12:30. Aberto em 03/05/1979. 150.000 bilhetes (+2,5 %).",
        ("2,5%", "3,5%"),
    ),
}


@pytest.mark.parametrize("code", ANSWERS)
def test_what_the_source_says_in_another_notation_is_released(code: str) -> None:
    answer, source, _ = ANSWERS[code]
    report = judge(answer, [source], Policy(language=code))
    assert (report.status, report.violations) == ("accepted", ())
    assert "[S1]" not in report.text


@pytest.mark.parametrize("code", ANSWERS)
def test_another_value_is_withheld(code: str) -> None:
    answer, source, (right, wrong) = ANSWERS[code]
    assert answer.count(right) == 1
    report = judge(answer.replace(right, wrong), [source], Policy(language=code))
    assert (report.status, {violation.check for violation in report.violations}) == ("stopped", {"unsupported_value"})
    assert wrong not in report.text
