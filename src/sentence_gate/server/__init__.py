"""Host: HTTP. Answers to a reader as Server-Sent Events, and a gate in front of an endpoint of chat completions.

endpoint       the ASGI endpoint of an assistant: a question in, events out
passthrough    `sentence-gate serve`: chat completions in, gated chat completions out
"""

from .endpoint import Answer, AnswerEndpoint, Question, TurnEndpoint, refused

__all__ = ["Answer", "AnswerEndpoint", "Question", "TurnEndpoint", "refused"]
