"""Host: NeMo Guardrails. Every answer that leaves an `LLMRails` is gated by the sentence, whatever path it takes.

A configuration imports the folder `sentence_gate/rails` (Colang 2.x: `sentence_gate/rails_v2`), whose `init` calls `install`. NeMo's own
streaming loop hands an output rail windows of tokens, can't take a rewritten text, sends first by default and lets the model run on after
a block; so the gate sits before that loop. `install` replaces `stream_async` and `generate_async` on the one instance, by methods that are
built from NeMo's public pieces:

    model -> GatedModel (model.py: how the stream ended, closed at the stop)
          -> StreamingHandler -> Run.pieces (run.py) -> streams.agate_stream -> NeMo's loop, if other output rails are configured -> reader

Without streaming the output rail `sentence gate` judges the whole answer in NeMo's own order (adapter.py). What the caller gets back is
cleared of raw text that NeMo keeps beside the answer (results.py). Context and options that would switch the gate off are taken out of a
request (requests.py).
"""

from __future__ import annotations

from ..errors import without

try:
    from .adapter import SentenceGateWarning, install, on_report
    from .session import FLOW, use_sources
except ModuleNotFoundError as error:
    raise without("nemo", error) from None

__all__ = ["FLOW", "SentenceGateWarning", "install", "on_report", "use_sources"]
