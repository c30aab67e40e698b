"""The examples run by themselves and show what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import sentence_gate

EXAMPLES = Path(__file__).parents[3] / "examples" / "langchain"
NOTICE = "'\\n\\nThe rest of this answer was withheld because it is not supported by the sources.'"
SHOWN = {
    "lcel_chain.py": ["'The museum is open from 9 to 18.'", "' A ticket costs 12 euros.'", NOTICE],
    "langgraph_agent.py": [
        "  (tool: search)",
        "'The museum is open from 9 to 18.'",
        "' It is closed on 24 December.'",
        "  (gate: stopped)",
        NOTICE,
    ],
}


@pytest.mark.parametrize("provider", ["scripted", "openai", "anthropic"])
@pytest.mark.parametrize("name", SHOWN)
def test_examples(name: str, provider: str) -> None:
    places = os.pathsep.join([str(Path(sentence_gate.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, str(EXAMPLES / name), provider]
    run = subprocess.run(command, env={**os.environ, "PYTHONPATH": places}, capture_output=True, text=True, timeout=120, check=False)
    assert run.stdout.splitlines() == SHOWN[name], run.stderr


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*SHOWN, "scripted.py"}
