"""What the model must be given: the numbered sources and the rules of the answer. Numbering has one author."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from . import languages
from .markers import MarkerStyle, style_of
from .policy import Policy
from .sources import Source, Sources


def format_sources(sources: Sources | Iterable[str | Source] | Mapping[str, str], markers: str | MarkerStyle = "S") -> str:
    """The source block for the prompt: each source under its marker, with title and URL if it has them.

    What looks like a marker inside a source is disarmed (its brackets are exchanged), so that a source can't cite in the answer's name.
    """
    style = style_of(markers)
    given = sources if isinstance(sources, Sources) else Sources(sources)
    return "\n\n".join(f"{style.written(number)}\n{_disarmed(source.content, style)}" for number, source in enumerate(given, 1))


def _disarmed(text: str, style: MarkerStyle) -> str:
    out, end = [], 0
    for marker in style.find(text):
        inner = text[marker.start + 1 : marker.end - 1]
        out += [text[end : marker.start], f"({inner})" if text[marker.start] != "(" else f"{{{inner}}}"]
        end = marker.end
    return "".join([*out, text[end:]])


def prompt_rules(policy: Policy | None = None) -> str:
    """What the model must be told so that good answers pass: cite every sentence, the no-answer token, third person, values as in the
    source.
    """
    policy = policy or Policy()
    first, second = (style_of(policy.markers).written(number) for number in (1, 2))
    where = "Put the marker of the source right behind what it supports, in every sentence"
    if policy.citation_scope == "paragraph":
        where = "Put the marker of the source behind the first sentence of every paragraph, and of every sentence where the source changes"
    rules = [
        f"Answer in {languages.load(policy.language).name}, and only from the numbered sources.",
        f"{where}: {first}. For two sources write {first}{second}. Introductions that end in a colon and headings need no marker.",
        "Write numbers, dates, addresses and names as they stand in the source that you cite. Don't round, convert, count or compute.",
    ]
    if policy.first_person:
        rules.append("Write in the third person. Don't speak of yourself, and don't say what you are about to do.")
    if policy.no_answer_token:
        rules.append(f"If the sources don't hold the answer, write {policy.no_answer_token} and nothing else.")
    return "\n".join(f"- {rule}" for rule in rules)
