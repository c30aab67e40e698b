"""What LangChain calls documents, as the numbered sources of the gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, ToolMessage

from ..errors import UsageError
from ..markers import MarkerStyle
from ..prompt import format_sources as format_core_sources
from ..sources import Source, Sources

SOURCES_KEY = "sentence_gate_sources"
"""Key in a run's `configurable` under which its documents are looked for."""
QUESTION_KEY = "sentence_gate_question"
"""Key in a run's `configurable` for what the user asked (`Policy.question_supports_values`)."""

_TEXT_KEYS = ("page_content", "text", "content")
_ACCEPTED = "Documents, texts, Sources, mappings with page_content, text or content, or one mapping from id to text"


def sources_of(given: Any) -> Sources:
    """The numbered sources from documents in the order of their list; `[S1]` is the first.

    Takes a `Sources`, or an iterable of Document, str, Source and mappings (`page_content`, `text` or `content`, with `title`, `url` and
    `language` beside it or in `metadata`), or one mapping from id to text. Raises UsageError for anything else.
    """
    if isinstance(given, Sources):
        return given
    if isinstance(given, Mapping) and all(isinstance(text, str) for text in given.values()):
        return Sources(given)
    if isinstance(given, str | bytes | Mapping | Document) or not isinstance(given, Iterable):
        raise UsageError(f"sources are a list of {_ACCEPTED}, not one {type(given).__name__}")
    return Sources([_source(item, number) for number, item in enumerate(given, 1)])


def _source(item: Any, number: int) -> str | Source:
    if isinstance(item, str | Source):
        return item
    if isinstance(item, Document):
        return _described(item.page_content, item.metadata)
    if isinstance(item, Mapping):
        for key in _TEXT_KEYS:
            if isinstance(text := item.get(key), str):
                metadata = item.get("metadata")
                return _described(text, {**item, **(metadata if isinstance(metadata, Mapping) else {})})
    raise UsageError(f"source {number} is a {type(item).__name__} without a text; sources are {_ACCEPTED}")


def _described(text: str, metadata: Mapping[str, Any]) -> Source:
    """Title and address are shown to the model with the text, so they count as its content; paths and other ids are not."""
    url = metadata.get("url") or metadata.get("source")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        url = None
    title, language = metadata.get("title"), metadata.get("language")
    return Source(
        text,
        title=title if isinstance(title, str) and title else None,
        url=url,
        language=language if isinstance(language, str) and language else None,
    )


def format_sources(documents: Any, markers: str | MarkerStyle = "S") -> str:
    """The numbered source block for the prompt, from whatever the gate takes as sources: numbering has one author."""
    return format_core_sources(sources_of(documents), markers)


def tool_documents(state: Any) -> list[Any]:
    """The documents that tools returned as artifacts, in the order of their messages.

    `state` is an agent's state or a list of messages. Made for `@tool(response_format="content_and_artifact")`; of an artifact that is
    a list, its Documents count. Use it as `sources=tool_documents`.
    """
    messages: Sequence[BaseMessage] = state.get("messages", ()) if isinstance(state, Mapping) else state
    return [document for message in messages if isinstance(message, ToolMessage) for document in documents_in(message)]


def documents_in(message: ToolMessage) -> list[Document]:
    """The documents in one tool message's artifact."""
    artifact = message.artifact
    found = artifact if isinstance(artifact, list | tuple) else [artifact]
    return [document for document in found if isinstance(document, Document)]
