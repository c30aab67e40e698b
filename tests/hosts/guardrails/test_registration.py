"""What people expect of a hub validator: dictionaries, RAIL, the registry, the command line, the old import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
RAIL = """<rail version="0.1">
<output type="string"
  validators="sentence_gate/sentence_gate: {['The archive opens at 9:30.']} en"
  on-fail-sentence_gate_sentence_gate="fix"/>
</rail>
"""
BAD = "The archive opens at 9:30 [S1]. The Zanzibar room closes at 23:45 sharp [S1]."


@pytest.mark.parametrize("kind", ["Guard", "AsyncGuard", "GatedGuard", "AsyncGatedGuard"])
def test_dictionaries(desk: Any, kind: str) -> None:
    cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
    guard = cls(name="kept").use(
        desk.host.SentenceGate(
            sources=desk.SOURCES, language="en", on_fail="fix", min_words=5, checks=["unsupported_value"], notices={"stopped": "Stop."}
        )
    )
    plain = json.loads(json.dumps(guard.to_dict()))
    again = cls.from_dict(plain)
    assert type(again) is cls
    assert again.to_dict() == guard.to_dict()
    (gate,) = again._validators
    assert gate == guard._validators[0]
    assert gate._policy == guard._validators[0]._policy
    seen = desk.validate(kind, again, BAD, {})
    assert seen.outcomes[0].validated_output == f"{desk.FIRST}\n\nStop."


def test_only_what_was_given_is_kept(desk: Any) -> None:
    assert desk.host.SentenceGate().get_args() == {}
    assert desk.host.SentenceGate(min_words=5).get_args() == {"min_words": 5}
    assert desk.host.SentenceGate.rail_alias == "sentence_gate/sentence_gate"
    assert desk.host.SentenceGate().on_fail_descriptor == "exception"


@pytest.mark.parametrize("kind", ["Guard", "GatedGuard"])
def test_rail(desk: Any, kind: str, tmp_path: Path) -> None:
    cls = getattr(desk.host, kind, None) or getattr(desk.guardrails, kind)
    (tmp_path / "answer.rail").write_text(RAIL, encoding="utf-8")
    for guard in (cls.for_rail_string(RAIL), cls.for_rail(str(tmp_path / "answer.rail"))):
        assert guard.validate(BAD).validated_output == f"{desk.FIRST}\n\n{desk.NOTICE}"
        seen = desk.call(kind, guard, desk.Model(BAD, 3), {})
        assert seen.text == f"{desk.FIRST}\n\n{desk.NOTICE}"


def python(program: str, place: Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=place,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_registry_the_command_line_and_the_old_import(desk: Any, tmp_path: Path) -> None:
    """With the entry Guardrails finds the validator by its name; without it a guard from a dictionary is empty, with a warning."""
    guard = desk.guardrails.Guard().use(desk.host.SentenceGate(sources=desk.SOURCES, on_fail="noop"))
    (tmp_path / "guard.json").write_text(json.dumps(guard.to_dict()), encoding="utf-8")
    (tmp_path / "answer.rail").write_text(RAIL, encoding="utf-8")
    program = f"""
import json, warnings
from guardrails import Guard
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    guard = Guard.from_dict(json.load(open("guard.json")))
    warned = any("not found in the registry" in str(one.message) for one in told)
    print(len(guard._validators), guard.validate({BAD!r}).validation_passed, warned)
"""
    without = python(program, tmp_path)
    assert without.stdout.split() == ["0", "True", "True"], without.stderr
    registered = python("from sentence_gate.cli import main; main(['guardrails-register'])", tmp_path)
    assert registered.returncode == 0, registered.stderr
    found = python(program, tmp_path)
    assert found.stdout.split() == ["1", "False", "False"], found.stderr
    shown = python(
        f"import sys; sys.argv = ['guardrails', 'validate', 'answer.rail', {BAD!r}]; from guardrails.cli import cli; cli()", tmp_path
    )
    assert desk.FIRST in shown.stdout, shown.stderr
    assert "Zanzibar" not in shown.stdout
    old = python("from guardrails.hub import SentenceGate; print(SentenceGate.rail_alias)", tmp_path)
    assert old.stdout.strip() == "sentence_gate/sentence_gate", old.stderr


def test_the_hub_finds_it_by_the_namespace_alone(desk: Any, tmp_path: Path) -> None:
    old = python("from guardrails.hub import SentenceGate; print(SentenceGate.rail_alias)", tmp_path)
    assert old.stdout.strip() == "sentence_gate/sentence_gate", old.stderr


def test_the_namespace_keeps_its_other_packages(desk: Any, tmp_path: Path) -> None:
    neighbour = tmp_path / "guardrails_ai" / "neighbour"
    neighbour.mkdir(parents=True)
    (neighbour / "__init__.py").write_text("here = True\n", encoding="utf-8")
    done = python(
        f"import sys; sys.path.append({str(tmp_path)!r})\n"
        "import guardrails_ai.sentence_gate, guardrails_ai.types, guardrails_ai.neighbour\nprint(guardrails_ai.neighbour.here)",
        tmp_path,
    )
    assert done.stdout.strip() == "True", done.stderr


def test_the_core_is_importable_without_guardrails(tmp_path: Path) -> None:
    program = "import sys, sentence_gate; print({name.split('.')[0] for name in sys.modules} & {'guardrails', 'litellm', 'pydantic'})"
    assert python(program, tmp_path).stdout.strip() == "set()"


def test_a_gate_as_a_runnable(desk: Any) -> None:
    runnable = desk.host.SentenceGate().with_metadata({"sources": desk.SOURCES}).to_runnable()
    assert runnable.invoke("It opens at 9:30 [S1].") == "It opens at 9:30 [S1]."
    with pytest.raises(Exception, match="unsupported_value") as raised:
        runnable.invoke(BAD)
    assert "Zanzibar" not in str(raised.value)
