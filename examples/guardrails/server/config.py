"""Guards for a guardrails-api server, beside `middleware.py`:

    guardrails-api start --config config.py --middleware middleware.py

The server streams through a synchronous guard and answers at once through an asynchronous one; it rebuilds a guard of the other kind as a
stock guard. So there are two. Call `/guards/archive/openai/v1` with `stream: true`, `/guards/archive-whole/openai/v1` without; sources go
into the metadata as a JSON string. `on_fail="fix"` ends a stopped answer with the notice.
"""

from guardrails_ai.sentence_gate import AsyncGatedGuard, GatedGuard, SentenceGate

streamed = GatedGuard(id="archive", name="archive").use(SentenceGate(on_fail="fix"))
whole = AsyncGatedGuard(id="archive-whole", name="archive-whole").use(SentenceGate(on_fail="fix"))
"""guardrails-api finds both by walking this module."""
