// The page of the assistant. It shows what the endpoint sends, as text and never as markup, and keeps apart what a notice is and what the
// answer is. No service worker: one between the page and the stream could hold a sentence back.
import { createParser } from "./eventsource-parser-4.1.3.js";

const LARGEST_EVENT = 1 << 20; // characters
const KEPT_MESSAGES = 8; // of the conversation, sent with the next question
const ICONS = {
  withheld: "M12 2 4 5v6c0 5 3.4 9.3 8 11 4.6-1.7 8-6 8-11V5zM8.5 8.5l7 7m0-7-7 7",
  cut: "M6 4a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zm0 11a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM8 8l12 9M8 16l12-9",
  refused: "M5 4h10l4 4v12H5zM9 11l6 6m0-6-6 6",
  empty: "M5 4h14v16H5z",
  failed: "M12 3 2 20h20zm0 6v5m0 3v.1",
  left: "M6 6h12v12H6z",
};

const $ = (id) => document.getElementById(id);
const { desks, compare: comparable } = await (await fetch("desks.json")).json();
const history = [];
let desk;
let running = null; // the AbortController of the answer that is being written
let turns = 0;

// ------------------------------------------------------------------------------------------------ the stream

/** The Server-Sent Events of a POST, each as it arrives. Leaving the loop closes the connection. */
async function* events(path, body, signal) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify(body),
    cache: "no-store",
    signal,
  });
  if (!response.ok) throw new Error(`${response.status} ${(await response.json().catch(() => ({}))).error ?? ""}`);
  const arrived = [];
  const parser = createParser({ onEvent: (event) => arrived.push(event), maxBufferSize: LARGEST_EVENT });
  const decoder = new TextDecoder(); // a character may be cut between two chunks
  const reader = response.body.getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const event of arrived.splice(0)) yield { name: event.event, ...JSON.parse(event.data) };
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Reads an answer into its article; what it came to is in the article's data-outcome. */
async function gated(turn, body, signal) {
  let complete = false;
  try {
    for await (const event of events("answer", body, signal)) {
      switch (event.name) {
        case "sentence":
          turn.sentence(event);
          break;
        case "guard":
          turn.notice("withheld", event.notice);
          break;
        case "truncated":
          turn.notice("cut", event.notice);
          break;
        case "refused":
        case "empty":
          turn.notice(event.name, event.notice);
          break;
        case "error":
          turn.notice("failed", event.notice);
          break;
        case "done":
          complete = true;
          turn.sources(event.cited);
          if (event.status === "accepted") turn.outcome("accepted");
      }
    }
    if (!complete) turn.broken("failed"); // a stream without its last event was cut on the way
  } catch (error) {
    if (!signal.aborted) console.error(error);
    turn.broken(signal.aborted ? "left" : "failed");
  }
}

/** Reads the unchecked stream into the column beside it, and marks what the gate does not let through. */
async function unchecked(turn, body, signal) {
  const spans = [];
  let text = "";
  try {
    for await (const event of events("unchecked", { question: body.question, language: body.language }, signal)) {
      if (event.name === "piece") text += event.text;
      else if (event.name === "unsupported") spans.push(event);
      turn.raw(text, spans);
    }
  } catch (error) {
    if (!signal.aborted) console.error(error);
  }
}

// ------------------------------------------------------------------------------------------------ one question and its answer

function make(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

function icon(kind) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[kind]);
  svg.append(path);
  return svg;
}

class Turn {
  constructor(question, beside) {
    this.desk = desk;
    this.number = ++turns;
    this.shown = "";
    const { page, code, dir } = desk;
    this.count = new Intl.NumberFormat(code);
    this.text = make("p", { class: "text" });
    this.wait = make("p", { class: "wait" }, make("span", { class: "dots", "aria-hidden": "true" }), page.waiting);
    this.wait.setAttribute("aria-hidden", "true"); // the status line says it once
    this.answer = make("div", { class: "answer" }, this.text, this.wait);
    this.columns = make("div", { class: "columns" }, this.answer);
    if (beside) {
      this.column = make("p", { class: "text" });
      this.answer.prepend(make("h3", {}, page.gated));
      this.columns.append(make("div", { class: "raw", "aria-live": "off" }, make("h3", {}, page.ungated), this.column));
    }
    this.article = make("article", { lang: code, dir }, make("h2", { class: "asked", dir: "auto" }, question), this.columns);
    $("log").append(this.article);
    this.followed = true;
    this.outcome("open");
  }

  /** Keeps the end of the answer in view, as far as its beginning stays there, until the reader scrolls. */
  follow() {
    if (!this.followed) return;
    const top = this.article.getBoundingClientRect().top + scrollY;
    scrollTo({ top: Math.min(top, document.documentElement.scrollHeight - innerHeight) });
  }

  outcome(kind) {
    this.article.dataset.outcome = kind;
    if (kind !== "open") this.wait.remove();
    this.follow();
  }

  sentence({ text, cites }) {
    this.shown += text;
    if (!text.trim()) {
      this.text.append(text);
      return;
    }
    const marks = cites.map((number) =>
      make("a", { class: "cite", href: `#source-${this.number}-${number}`, "aria-label": `${this.desk.page.source} ${this.count.format(number)}` },
        this.count.format(number)),
    );
    const lead = text.length - text.trimStart().length;
    this.text.append(text.slice(0, lead), make("span", { class: "sentence" }, text.slice(lead), ...marks));
    this.follow();
  }

  notice(kind, told) {
    this.outcome(kind);
    const box = make("div", { class: `notice ${kind}` }, icon(kind), make("p", {}, make("strong", {}, this.desk.page[kind]), " ", told));
    this.answer.append(box);
    this.follow();
  }

  /** The stream is over before its end; if a notice has said so already, that one stays alone. */
  broken(kind) {
    if (this.article.dataset.outcome === "open") this.notice(kind, this.desk.page[`${kind}_notice`]);
  }

  sources(cited) {
    if (!cited.length) return;
    const list = make("ol", { class: "sources" });
    for (const { number, id, title } of cited) {
      const held = make("details", { id: `source-${this.number}-${number}` },
        make("summary", {}, make("span", { class: "number" }, this.count.format(number)), make("bdi", {}, title ?? id ?? "")),
        make("p", {}, this.desk.sources[id] ?? ""));
      list.append(make("li", {}, held));
    }
    this.answer.append(make("h3", {}, this.desk.page.sources), list);
    this.follow();
  }

  raw(text, spans) {
    const chars = Array.from(text); // offsets count code points
    let at = 0;
    this.column.replaceChildren();
    for (const { start, end } of spans) {
      this.column.append(chars.slice(at, start).join(""));
      this.column.append(make("mark", { title: this.desk.page.unsupported }, chars.slice(start, end).join("")));
      at = end;
    }
    this.column.append(chars.slice(at).join(""));
    if (spans.length && !this.column.nextSibling) this.column.after(make("p", { class: "unsupported" }, this.desk.page.unsupported));
  }
}

// ------------------------------------------------------------------------------------------------ the page

async function ask(question) {
  if (running || !question.trim()) return;
  const beside = comparable && $("compare").checked;
  const turn = new Turn(question, beside);
  for (const gesture of ["wheel", "touchmove"]) addEventListener(gesture, () => (turn.followed = false), { once: true, passive: true });
  const body = { question, language: desk.code, history: history.slice(-KEPT_MESSAGES) };
  running = new AbortController();
  busy(true);
  $("status").textContent = desk.page.waiting;
  const reading = [gated(turn, body, running.signal)];
  if (beside) reading.push(unchecked(turn, body, running.signal));
  await Promise.all(reading);
  running = null;
  busy(false);
  $("status").textContent = turn.article.dataset.outcome === "accepted" ? turn.desk.page.finished : "";
  if (turn.shown.trim()) history.push({ role: "user", content: question }, { role: "assistant", content: turn.shown });
}

/** Exchanges the two buttons; the focus never falls out of the form. */
function busy(is) {
  const focused = document.activeElement;
  $("stop").hidden = !is;
  $("ask").hidden = is;
  if (is && focused === $("ask")) $("stop").focus();
  if (!is && (focused === $("stop") || focused === document.body)) $("question").focus();
}

/** The field writes in the direction of what is in it; an empty one in the page's. */
function direct() {
  $("question").dir = $("question").value ? "auto" : desk.dir;
}

function speak(code) {
  desk = desks.find((one) => one.code === code) ?? desks.find((one) => one.code === "en") ?? desks[0];
  document.documentElement.lang = desk.code;
  document.documentElement.dir = desk.dir;
  document.title = desk.page.title;
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = desk.page[element.dataset.text];
  $("question").placeholder = desk.page.placeholder;
  direct();
  $("language").value = desk.code;
  $("suggested").replaceChildren(
    ...desk.questions.map((question) => {
      const button = make("button", { type: "button", class: "quiet" }, question);
      button.addEventListener("click", () => ask(question));
      return make("li", {}, button);
    }),
  );
}

$("language").append(...desks.map(({ code, name }) => make("option", { value: code, lang: code }, name)));
$("language").addEventListener("change", () => speak($("language").value));
$("theme").addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (running) return;
  const question = $("question").value;
  $("question").value = "";
  direct();
  ask(question);
});
$("question").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $("form").requestSubmit();
});
$("question").addEventListener("input", direct);
$("stop").addEventListener("click", () => running?.abort());
document.addEventListener("keydown", (event) => event.key === "Escape" && running?.abort());
document.addEventListener("click", (event) => {
  const cite = event.target.closest?.("a.cite");
  const held = cite && $(cite.hash.slice(1));
  if (held) held.open = true;
});
$("compare-switch").hidden = !comparable;
const wanted = new URLSearchParams(location.search).get("language");
speak(wanted ?? navigator.languages.map((tag) => tag.split("-")[0]).find((code) => desks.some((one) => one.code === code)));
document.body.dataset.ready = "";
