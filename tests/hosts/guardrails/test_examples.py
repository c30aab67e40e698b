"""Each example runs by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples" / "guardrails"
NOTICE = "The rest of this answer was withheld because it is not supported by the sources."


def output_of(name: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", EXAMPLES / name],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "45" not in done.stdout
    assert "Towels" not in done.stdout
    return done.stdout


def test_stream() -> None:
    first = "The pool opens at 8.\n(the model's stream is closed)\n"
    assert output_of("stream.py") == (
        f"{first}\n\n{NOTICE}\n(passed: False)\n\n{first}(Validation failed for field with errors: sentence 2: unsupported_value)\n"
    )


def test_whole() -> None:
    assert output_of("whole.py").splitlines() == [
        "True The pool opens at 8. A locker costs 40 cents. []",
        "False The pool opens at 8. ['sentence 2: unsupported_value']",
        "The pool opens at 8.",
        "",
        NOTICE,
        str({"answer": f"The pool opens at 8.\n\n{NOTICE}", "page": 3}),
    ]


def test_every_example_is_run_here_or_in_the_servers_test() -> None:
    told = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert all(f'"{path.name}"' in told for path in EXAMPLES.rglob("*.py"))
