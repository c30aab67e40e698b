"""The page in a real browser: directly, through nginx and through Caddy; what it shows, what it is sent, what it leaves."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from programs import FABRICATED, QUESTION, SENTENCES, Provider, Wire, assistant, caddy, eventually, nginx, provider_at
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from sentence_gate import Policy, notice

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1000,820",
)
WITHHELD = notice(Policy(language="en"), "stopped")
WAYS: dict[str, Callable[[str, Path], contextlib.AbstractContextManager[str]]] = {
    "direct": lambda upstream, _: contextlib.nullcontext(upstream),
    "nginx": nginx,
    "caddy": caddy,
}


class Page:
    """The browser, and what is on its page."""

    def __init__(self, profile: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = str(shutil.which("chromium"))
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options, Service(shutil.which("chromedriver")))

    def open(self, address: str, language: str) -> None:
        self.driver.get(f"{address}/?language={language}")
        eventually(lambda: self.run("return document.body.dataset.ready !== undefined"))

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def texts(self, selector: str) -> list[str]:
        return list(self.run("return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText.trim())", selector))

    def sentences(self, article: int) -> list[str]:
        """The sentences of an answer, without the numbers of their sources."""
        script = """
            const article = document.querySelectorAll("article")[arguments[0]];
            return [...(article?.querySelectorAll(".sentence") ?? [])].map((one) => one.firstChild.textContent.trim());"""
        return list(self.run(script, article))

    def outcomes(self) -> list[str]:
        return list(self.run("return [...document.querySelectorAll('article')].map((one) => one.dataset.outcome)"))

    def suggest(self, number: int) -> None:
        self.driver.find_elements(By.CSS_SELECTOR, "#suggested button")[number].click()

    def complaints(self) -> list[Any]:
        return list(self.driver.get_log("browser"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    os.environ["SE_OFFLINE"] = "true"
    page = Page(tmp_path_factory.mktemp("profile"))
    try:
        yield page
    finally:
        page.driver.quit()


@dataclass(frozen=True)
class Served:
    wire: Wire
    provider: Provider


@pytest.fixture(scope="module", params=WAYS)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The example with the real client of a scripted provider, perhaps a proxy, and a wire that keeps all that the browser is sent."""
    provider = Provider()
    with (
        provider_at(provider) as upstream,
        assistant(upstream=upstream) as (address, _),
        WAYS[request.param](address, tmp_path_factory.mktemp("proxy")) as before,
    ):
        wire = Wire(before)
        try:
            yield Served(wire, provider)
        finally:
            wire.close()


@pytest.fixture(scope="module")
def embedded() -> Iterator[str]:
    with assistant("--seconds", "0.02") as (address, _):
        yield address


def test_a_reader_asks_watches_and_stops(page: Page, served: Served) -> None:
    provider = served.provider
    page.open(served.wire.address, "en")

    # The sentences come one by one: the model is let on only when the one before is on the page.
    page.find("#question").send_keys(QUESTION, Keys.ENTER)
    for number, sentence in enumerate(SENTENCES, 1):
        provider.allowed = number
        eventually(lambda number=number: len(page.sentences(0)) == number)
        assert page.sentences(0)[-1] == sentence
        assert provider.sent == number
        assert page.outcomes() == ["open"]
    provider.allowed = 3
    eventually(lambda: page.outcomes() == ["withheld"])
    eventually(lambda: page.find("#ask").is_displayed())
    assert page.sentences(0) == list(SENTENCES)
    (told,) = page.texts(".notice.withheld")
    assert told.endswith(WITHHELD)
    assert page.texts(".sources summary bdi") == ["The first landing on the Moon"]
    eventually(lambda: provider.left == [3])  # the model was closed at the stop

    # The next answer is stopped by the reader.
    provider.reset()
    page.find("#question").send_keys(QUESTION)
    page.find("#ask").click()
    provider.allowed = 1
    eventually(lambda: len(page.sentences(1)) == 1)
    page.find("#stop").click()
    eventually(lambda: provider.left == [1])  # closed before its next piece
    eventually(lambda: page.outcomes() == ["withheld", "left"])
    assert page.sentences(1) == [SENTENCES[0]]
    assert page.find("#ask").is_displayed()
    (request,) = provider.asked
    assert [message["role"] for message in request["messages"]] == ["system", "user", "assistant", "user"]  # what was shown is history
    assert FABRICATED not in repr(request)

    # What was withheld is nowhere, and the streams came as text, so that looking for it means something.
    kept = bytes(served.wire.kept)
    answers = [part for part in kept.split(b"HTTP/1.1 ") if b"content-type: text/event-stream" in part.lower()]
    assert len(answers) == 2
    assert all(b"content-encoding" not in part.lower() and b"event: sentence" in part for part in answers)
    assert FABRICATED.encode() not in kept
    assert FABRICATED not in page.driver.page_source
    assert page.complaints() == []


def test_right_to_left_beside_the_unchecked_stream(page: Page, embedded: str) -> None:
    page.open(embedded, "fa")
    assert page.run("return [document.documentElement.lang, document.documentElement.dir]") == ["fa", "rtl"]
    page.run("document.getElementById('compare').click()")
    page.suggest(1)
    eventually(lambda: page.outcomes() == ["withheld"] and page.find("#ask").is_displayed())
    assert len(page.sentences(0)) == 2
    (marked,) = page.texts(".raw mark")
    assert "۷۳٫۸۶" in marked
    assert "۷۳٫۸۶" not in page.find(".answer").text
    (answer, raw) = (page.run("return document.querySelector(arguments[0]).getBoundingClientRect().x", one) for one in (".answer", ".raw"))
    assert answer > raw  # the answer stands at the start of the line, which is on the right
    for selector in (".text", ".notice", ".asked", "#question"):
        assert page.run("return getComputedStyle(document.querySelector(arguments[0])).direction", selector) == "rtl"
    assert set(page.texts(".sentence .cite")) == {"۱"}
    page.find("#question").send_keys("Mars?")
    assert page.run("return getComputedStyle(document.getElementById('question')).direction") == "ltr"
    assert page.complaints() == []


def test_stop_ends_both_streams(page: Page) -> None:
    with assistant("--seconds", "0.2") as (address, _):
        page.open(address, "en")
        page.find("#compare-switch").click()
        page.suggest(0)
        eventually(lambda: len(page.sentences(0)) == 1)
        page.find("#stop").click()
        eventually(lambda: page.outcomes() == ["left"])
        raw = page.texts(".raw .text")
        assert "27.3" not in raw[0]  # of the third sentence
        time.sleep(1)  # five words of the model
        assert page.texts(".raw .text") == raw
        assert page.sentences(0) == ["The Moon is on average 384,400 km from the Earth."]
        assert page.complaints() == []


def test_a_stream_that_is_cut_into_single_bytes(page: Page, embedded: str) -> None:
    wire = Wire(embedded, cut=1)
    try:
        page.open(wire.address, "fa")
        page.suggest(1)
        eventually(lambda: page.outcomes() == ["withheld"])
        assert page.sentences(0) == [
            "آپولو ۱۱ در ۲۰ ژوئیهٔ ۱۹۶۹ روی ماه فرود آمد.",
            "نیل آرمسترانگ نخستین انسانی بود که بر سطح ماه قدم گذاشت.",
        ]
        assert page.texts(".notice.withheld")[0].endswith(notice(Policy(language="fa"), "stopped"))
        assert page.complaints() == []
    finally:
        wire.close()


def test_withheld_cut_and_refused_look_different(page: Page, embedded: str) -> None:
    page.open(embedded, "en")
    for number, kind in ((0, "accepted"), (1, "withheld"), (2, "cut"), (3, "refused"), (4, "refused")):
        page.suggest(number)
        eventually(lambda number=number, kind=kind: page.outcomes()[number:] == [kind] and page.find("#ask").is_displayed())
    script = """
        const style = getComputedStyle(document.querySelector(arguments[0]));
        return [style.color, style.backgroundColor, style.borderStyle].join(" ");"""
    looks = {page.run(script, f".notice.{kind}") for kind in ("withheld", "cut", "refused")}
    assert len(looks) == 3
    withheld, cut, refused, before = page.texts(".notice")
    assert refused == before  # by the model or before it: the same fixed text
    assert len({withheld, cut, refused}) == 3
    icons = page.run("return [...document.querySelectorAll('.notice path')].map((one) => one.getAttribute('d'))")
    assert len(set(icons)) == 3
    assert page.complaints() == []


def test_with_the_keyboard_alone(page: Page, embedded: str) -> None:
    page.open(embedded, "en")
    keys = webdriver.ActionChains(page.driver)
    reached = []
    for _ in range(10):
        keys.send_keys(Keys.TAB).perform()
        reached.append(page.run("const one = document.activeElement; return one.id || one.tagName"))
    assert ["language", "theme", *["BUTTON"] * 5, "compare", "question", "ask"] == reached
    page.run("document.getElementById('question').focus()")
    webdriver.ActionChains(page.driver).send_keys(QUESTION, Keys.TAB, Keys.ENTER).perform()  # the focus is on the button, which goes
    assert page.run("return document.activeElement.id") == "stop"
    eventually(lambda: page.sentences(0))
    webdriver.ActionChains(page.driver).send_keys(Keys.ESCAPE).perform()
    eventually(lambda: page.outcomes() == ["left"])
    eventually(lambda: page.run("return document.activeElement.id") == "question")
    assert page.run("return document.querySelector(':focus-visible') !== null")
    assert page.run("return getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_what_a_screen_reader_is_told(page: Page, embedded: str) -> None:
    page.open(embedded, "en")
    page.suggest(1)
    eventually(lambda: page.outcomes() == ["withheld"] and page.find("#ask").is_displayed())
    page.driver.execute_cdp_cmd("Accessibility.enable", {})
    nodes = page.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    told = {(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]}
    assert {("textbox", "Your question"), ("button", "Ask"), ("switch", "Show the unchecked stream beside it")} <= told
    assert {("combobox", "Language"), ("button", "Light or dark"), ("link", "Source 1"), ("heading", QUESTION)} <= told
    assert {"log", "status", "main", "form"} & {role for role, _ in told} >= {"log", "status", "main"}
    assert any(role == "StaticText" and name.strip() == WITHHELD for role, name in told)
    unnamed = [role for role, name in told if role in ("button", "link", "textbox", "combobox", "switch") and not name]
    assert unnamed == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast(page: Page, embedded: str, scheme: str) -> None:
    """At least 4.5 to 1 (WCAG 2.2, 1.4.3)."""
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    page.open(embedded, "en")
    page.run("document.getElementById('compare').click()")
    for number in (1, 2, 3):
        page.suggest(number)
        eventually(lambda number=number: len(page.outcomes()) == number and page.find("#ask").is_displayed())
    seen = "h1, header p, .asked, .sentence, .cite, .notice p, mark, .unsupported, .raw .text, h3, #ask, .switch"
    script = """
        const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
        const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
        const ground = (one) => { for (; one; one = one.parentElement) {
            const colour = rgb(getComputedStyle(one).backgroundColor); if ((colour[3] ?? 1) > 0.99) return colour; } };
        return [...document.querySelectorAll(arguments[0])]
            .map((one) => { const [a, b] = [light(rgb(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x);
                return [one.className || one.tagName, (a + 0.05) / (b + 0.05)]; });"""
    time.sleep(0.5)  # sentences fade in
    ratios = page.run(script, seen)
    assert len(ratios) > 15
    assert [(what, ratio) for what, ratio in ratios if ratio < 4.5] == []
    page.run("document.getElementById('theme').click()")
    assert page.run("return document.documentElement.dataset.theme") == {"light": "dark", "dark": "light"}[scheme]


def test_an_answer_whose_server_dies_is_not_taken_for_a_whole_one(page: Page) -> None:
    provider = Provider()
    with provider_at(provider) as upstream, assistant(upstream=upstream) as (address, process):
        page.open(address, "en")
        page.find("#question").send_keys(QUESTION, Keys.ENTER)
        provider.allowed = 1
        eventually(lambda: page.sentences(0))
        process.kill()
        eventually(lambda: page.outcomes() == ["failed"])
        assert page.texts(".notice.failed")[0].endswith(notice(Policy(language="en"), "failed"))


def test_no_service_worker_and_nothing_from_elsewhere(page: Page, embedded: str) -> None:
    page.open(embedded, "en")
    registered = page.driver.execute_async_script("navigator.serviceWorker.getRegistrations().then((all) => arguments[0](all.length))")
    assert registered == 0
    loaded = page.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert loaded
    assert all(name.startswith((embedded, "data:")) for name in loaded)
