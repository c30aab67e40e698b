"""What the scripts need of the rooms that read the language files: colons, dates with full stops, particles on numbers, number words
without spaces.
"""

from __future__ import annotations

import pytest

from sentence_gate import Policy, SentenceSplitter, judge


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


SUPPORTED = [
    ("he", "הגן נפתח ב-1984 [S1].", "נפתח בשנת 1984."),
    ("he", "אורך השביל כ-30 מטר [S1].", "השביל: 30 מטר."),
    ("he", "בגן 25 עצים [S1].", "בגן עשרים וחמישה עצים."),
    ("he", "הגן נפתח ב-5 במאי 2019 [S1].", "opened on 5 May 2019"),
    ("th", "มีต้นไม้ 250 ต้น [S1]", "ในสวนมีต้นไม้สองร้อยห้าสิบต้น"),
    ("th", "เงิน 2,500,000 บาท [S1]", "เงินสองล้านห้าแสนบาท"),
    ("th", "เปิดเมื่อ 5 พ.ค. 2019 [S1]", "opened on 5 May 2019"),
    ("ko", "방문객은 1억 2500만 명이다 [S1].", "125 million visitors"),
    ("ko", "나무 3그루와 2명이 있다 [S1].", "두 명, 셋"),
    ("ko", "2019년 5월 3일에 문을 열었다 [S1].", "opened on 3 May 2019"),
    ("ja", "来場者は22.5億人だった [S1]。", "2.25 billion visitors"),
    ("ja", "木は250本ある [S1]。", "木は二百五十本ある。"),
    ("ja", "午後5時に閉まる [S1]。", "It closes at 17:00."),
    ("ur", "باغ میں 250 درخت ہیں [S1]۔", "باغ میں دو سو پچاس درخت ہیں۔"),
    ("ur", "خرچ 25 لاکھ روپے تھا [S1]۔", "2,500,000 rupees"),
    ("bn", "বাগানে ২৫০টি গাছ আছে [S1]।", "বাগানে দুইশ পঞ্চাশটি গাছ আছে।"),
    ("bn", "খরচ ২৫ লাখ টাকা [S1]।", "2,500,000 taka"),
    ("hy", "Այգում 250 ծառ կա [S1]։", "Այգում երկու հարյուր հիսուն ծառ կա։"),
    ("hy", "Բացվել է 2019 թ. մայիսի 5-ին [S1]։", "Բացվել է 2019 թ. մայիսի 5-ին։"),
    ("am", "250 ዛፎች አሉ [S1]።", "ሁለት መቶ አምሳ ዛፎች አሉ።"),
    ("am", "በ2019 ተከፈተ [S1]።", "opened in 2019"),
    ("ar", "و50 زائرا [S1].", "بـ50 زائرا"),
    ("ar", "بين الساعة 12:00 و13:00 [S1].", "12:00, 13:00"),
    ("fa", "خرج آن ۲/۵ میلیون بود [S1].", "It cost 2.5 million."),
    ("th", "เปิด 9.00-17.00 น. [S1]", "open 9:00-17:00"),
    ("de", "Von 9.00 bis 17.00 Uhr geöffnet [S1].", "open 9:00-17:00"),
    ("ja", "昼夜10時間かかる [S1]。", "It takes 10 hours."),
    ("ko", "밤 9시간 걸린다 [S1].", "It takes 9 hours."),
    ("ko", "3월 15일부터 20일까지 연다 [S1].", "open from 15 to 20 March"),
    ("bn", "হাজার হাজার মানুষ আসে [S1]।", "x"),  # thousands
    ("hi", "लाख लाख लोग आते हैं [S1]।", "x"),
    ("fa", "۲۰ اسفند باز است [S1].", "از ۱۵ تا ۲۰ اسفند باز است."),
    ("fa", "۱۵ اسفند باز است [S1].", "از ۱۵ تا ۲۰ اسفند باز است."),
    ("he", "נבנה בשנות ה-90 [S1].", "built in the 1990s"),
    ("fa", "در مرداد ۶۷ باز شد [S1].", "در مرداد سال ۶۷ باز شد."),
    ("fa", "در اسفند ۱۳۸۶ باز شد [S1].", "روز ۲۴ اسفند۱۳۸۶ باز شد."),
    ("fa", "۲۳ درخت دارد [S1].", "به تعداد۲۳ درخت"),
    ("fa", "۱۵۰ درخت دارد [S1].", "صد و پنجاه درخت دارد."),
    ("hi", "बाग़ में 250 पेड़ हैं [S1]।", "बाग़ में दो सौ पचास पेड़ हैं।"),
]
UNSUPPORTED = [
    ("he", "הגן נפתח ב-1984 [S1].", "נפתח בשנת 1985."),
    ("he", "אורך השביל כ-30 מטר [S1].", "השביל: 40 מטר."),
    ("bn", "দুই হাজার কোটি টাকা [S1]।", "দুই হাজার টাকা"),
    ("fa", "۱۴ اسفند باز است [S1].", "از ۱۵ تا ۲۰ اسفند باز است."),
    ("th", "มีต้นไม้ 250 ต้น [S1]", "ในสวนมีต้นไม้สองร้อยหกสิบต้น"),
    ("th", "ทำได้ 3 ครั้ง [S1]", "ทุกคนสามารถทำได้"),  # the word for "able" begins with three
    ("ko", "입구는 3곳이다 [S1].", "세계 여러 나라"),  # world, not three
    ("ja", "来場者は22.5億人だった [S1]。", "225 million visitors"),
    ("ur", "خرچ 25 لاکھ روپے تھا [S1]۔", "25,000 rupees"),
    ("fa", "۵۴ درخت دارد [S1].", "چون باران آمد، درخت دارد."),  # Urdu 54 is Persian "since"
    ("bn", "খরচ ২৫ কোটি টাকা [S1]।", "2,500,000 taka"),
    ("hy", "Այգում 250 ծառ կա [S1]։", "Այգում երկու հարյուր վաթսուն ծառ կա։"),
    ("am", "250 ዛፎች አሉ [S1]።", "ሁለት መቶ ስልሳ ዛፎች አሉ።"),
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
    ("ur", "میں نے یہ دیکھا [S1]۔"), ("ur", "ہمارے پاس باغ ہے [S1]۔"), ("ur", "یہ نہیں بتا سکتا ہوں [S1]۔"),
    ("ja", "私は庭を見た [S1]。"), ("ja", "それは正しいと思います [S1]。"), ("ja", "我々の庭だ [S1]。"),
    ("ko", "저는 정원을 보았다 [S1]."), ("ko", "우리 정원은 넓다 [S1]."),
    ("he", "אני ראיתי את הגן [S1]."), ("he", "לדעתי הגן יפה [S1]."),
    ("bn", "আমি বাগান দেখেছি [S1]।"), ("bn", "আমাদের বাগান বড় [S1]।"),
    ("hy", "Կարծում եմ, որ այգին մեծ է [S1]։"), ("hy", "Կարո՞ղ ե՛նք գալ [S1]։"), ("hy", "Մեր այգին մեծ է [S1]։"),
    ("th", "ดิฉันเห็นสวน [S1]"), ("th", "ผมคิดว่าสวนสวย [S1]"), ("th", "เราเปิดสวน [S1]"),
    ("am", "እኔ አትክልቱን አየሁ [S1]።"), ("am", "ይመስለኛል ሰፊ ነው [S1]።"),
]  # fmt: skip
UNSPOKEN = [
    ("ja", "A.I.の研究だ [S1]。"), ("zh", "“我也是”运动始于网络[S1]。"), ("ar", "في مقاطعة لي بستان [S1]."),
    ("ur", "باغ شہر میں ہے [S1]۔"), ("ur", "وزیر نے اپنے ہم منصب سے ملاقات کی [S1]۔"), ("ur", "میری لینڈ ایک ریاست ہے [S1]۔"),
    ("ja", "私立学校で怪我をした [S1]。"), ("ja", "我が国の私有林 [S1]。"), ("ja", "自我の研究 [S1]。"),
    ("ko", "냄새가 나는 꽃이 제 역할을 한다 [S1]."), ("ko", "30일 내에 우리 은하를 본다 [S1]."),
    ("he", "ברוס לי היה שחקן [S1]."), ("he", "עלי ואלי שיחקו [S1]."),
    ("bn", "আমিনুল বাগান দেখেন [S1]।"), ("bn", "জাতীয় সঙ্গীত আমার সোনার বাংলা [S1]।"),
    ("hy", "Մեր թվարկության սկզբին կառուցվեց [S1]։"), ("hy", "Եթե գալիս ես, բեր քարտը [S1]։"),
    ("th", "มติเป็นเอกฉันท์ [S1]"), ("th", "เส้นผมยาว [S1]"),
    ("am", "እሱ አትክልቱን አየ [S1]።"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "answer"), SPOKEN)
def test_first_person(code: str, answer: str) -> None:
    assert verdict(code, answer, "x") == ["first_person"]


@pytest.mark.parametrize(("code", "answer"), UNSPOKEN)
def test_no_first_person(code: str, answer: str) -> None:
    assert verdict(code, answer, "x 30 5") == []
