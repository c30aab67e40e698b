"""What a callable may hand over, and how its answer then ended."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

FIRST, SHOWN = "The archive opens at 9:30 [S1].", "The archive opens at 9:30."


def chunk(content: str | None = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content, **delta}, "finish_reason": finish}]}


def plain(content: str, finish: str | None) -> Any:
    choice = SimpleNamespace(index=0, delta=SimpleNamespace(content=content), finish_reason=finish)
    return SimpleNamespace(choices=[choice], usage=None)


CASES = {  # the items, what is shown, whether it passed, the reason in the call's log
    "strings and nothing": ([None, "The archive ", "opens at 9:30 [S1].", None], SHOWN, True, ""),
    "a str": (FIRST, SHOWN, True, ""),
    "mappings": ([chunk(FIRST), chunk(" End"), chunk(finish="stop")], f"{SHOWN} End", True, ""),
    "objects": ([plain(FIRST, None), plain(" End", "stop")], f"{SHOWN} End", True, ""),
    "text completions": ([{"choices": [{"index": 0, "text": FIRST, "finish_reason": "stop"}]}], SHOWN, True, ""),
    "the second choice": ([chunk(FIRST, "stop"), {"choices": [{"index": 1, "delta": {"content": "Quagga"}}]}], SHOWN, True, ""),
    "reasoning beside": ([chunk(reasoning_content="Quagga"), chunk(FIRST), chunk(finish="stop")], SHOWN, True, ""),
    "reasoning within": ([chunk("<thi"), chunk("nk>Quagga</think>" + FIRST), chunk(finish="stop")], SHOWN, True, ""),
    "an error within": ([chunk(FIRST + " Quagga"), {"error": {"message": "Quagga", "code": 500}}], SHOWN, False, "failed: provider_error"),
    "no reason": ([chunk(FIRST + " Quagga")], SHOWN, False, "failed: no_evidence"),
    "a filter": ([chunk(FIRST + " Quagga"), chunk(finish="content_filter")], SHOWN, False, "failed: filtered"),
    "an unknown reason": ([chunk(FIRST + " Quagga"), chunk(finish="tired")], SHOWN, False, "failed: provider_error"),
    "a refusal": ([chunk(refusal="Quagga"), chunk(finish="stop")], "", False, "refused: "),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
@pytest.mark.parametrize("name", CASES)
def test_items(desk: Any, kind: str, name: str) -> None:
    items, shown, passed, reason = CASES[name]
    llm = lambda *_, messages=None, **__: items if isinstance(items, str) else iter(items)  # noqa: E731
    seen = desk.read(kind, desk.make(kind, "noop"), llm if "Gated" in kind else desk.host.gated(llm))
    assert (seen.text, seen.error) == (shown, None)
    if kind != "AsyncGuard":
        assert seen.passed is passed
    assert reason in seen.everything
    assert "Quagga" not in seen.everything
