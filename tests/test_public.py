"""The public surface is frozen; importing it costs nothing."""

from __future__ import annotations

import subprocess
import sys

import sentence_gate

NAMES = {
    "DEFAULT_CHECKS",
    "Check",
    "Done",
    "Empty",
    "Ending",
    "Failed",
    "MarkerStyle",
    "Omitted",
    "Outcome",
    "Policy",
    "Refused",
    "Released",
    "Report",
    "Sentence",
    "SentenceGate",
    "SentenceSplitter",
    "Source",
    "Sources",
    "Stopped",
    "StreamError",
    "Truncated",
    "Usage",
    "UsageError",
    "Violation",
    "agate_stream",
    "format_sources",
    "gate_stream",
    "judge",
    "notice",
    "prompt_rules",
}


def test_the_public_names() -> None:
    assert set(sentence_gate.__all__) == NAMES
    assert all(getattr(sentence_gate, name).__doc__ for name in NAMES - {"DEFAULT_CHECKS"})


def test_importing_loads_no_third_party_package_and_reads_no_file() -> None:
    code = (
        "import sys; before = set(sys.modules); opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == 'open' else None)\n"
        "import sentence_gate\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "assert new <= set(sys.stdlib_module_names) | {'sentence_gate'}, new\n"
        "assert not [name for name in opened if not name.endswith(('.py', '.pyc'))], opened\n"
        "assert not {'asyncio', 'logging', 'socket', 'sqlite3'} & set(sys.modules), 'an impure room was loaded'\n"
    )
    subprocess.run([sys.executable, "-I", "-c", code], check=True)
