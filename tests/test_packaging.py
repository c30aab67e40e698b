"""The wheel, the README and the examples: what a user gets and is told."""

import ast
import dataclasses
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import sentence_gate
from sentence_gate import languages
from sentence_gate.demo import ORDER

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel() -> metadata.Distribution:
    try:
        return metadata.distribution("sentence-gate")
    except metadata.PackageNotFoundError:
        pytest.fail("the tests run against the installed package: pip install '.[test]'")


def names(wheel: metadata.Distribution) -> set[str]:
    return {str(file) for file in wheel.files or ()}


def test_the_package_under_test_is_the_installed_one() -> None:
    assert ROOT / "src" not in Path(sentence_gate.__file__).parents


def test_the_wheel_holds_package_data(wheel: metadata.Distribution) -> None:
    held = names(wheel)
    assert "sentence_gate/py.typed" in held
    assert {f"sentence_gate/languages/{code}.toml" for code in languages.codes()} <= held
    assert {f"sentence_gate/demo/answers/{code}.toml" for code in ORDER} <= held
    assert set(ORDER) <= set(languages.codes())


def test_the_wheel_holds_the_hosts_places_and_leaves_the_namespace_alone(wheel: metadata.Distribution) -> None:
    held = names(wheel)
    assert {"guardrails_ai/sentence_gate/__init__.py", "sentence_gate/rails/__init__.py", "sentence_gate/rails_v2/__init__.py"} <= held
    assert "guardrails_ai/__init__.py" not in held
    tops = {name.split("/")[0] for name in held if not name.startswith("..") and ".dist-info" not in name}
    assert tops == {"sentence_gate", "guardrails_ai"}


def test_every_source_file_is_in_the_wheel(wheel: metadata.Distribution) -> None:
    held = names(wheel)
    files = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".toml", ".typed")}
    assert files <= held


def test_metadata(wheel: metadata.Distribution) -> None:
    told = wheel.metadata
    assert (told["Name"], told["License-Expression"], told["Requires-Python"]) == ("sentence-gate", "Apache-2.0", ">=3.11")
    assert set(told.get_all("Provides-Extra") or ()) >= {"nemo", "guardrails", "langchain", "server", "contract", "all", "test"}
    assert [need for need in wheel.requires or () if "extra ==" not in need] == []
    assert any(entry.name == "sentence-gate" and entry.value == "sentence_gate.cli:main" for entry in wheel.entry_points)
    assert any(name.endswith("licenses/LICENSE") for name in names(wheel))


def test_importing_the_package_loads_the_standard_library_only() -> None:
    program = (
        "import sys; before = set(sys.modules); import sentence_gate; print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) - set(sys.stdlib_module_names) == {"sentence_gate"}


@pytest.mark.parametrize("name", ["sentence_gate.rails", "sentence_gate.rails_v2", "guardrails_ai.sentence_gate"])
def test_the_hosts_places_can_be_found(name: str) -> None:  # importing one needs its framework
    subprocess.run(
        [sys.executable, "-I", "-c", f"from importlib.util import find_spec; assert find_spec({name!r}).has_location"], check=True
    )


def test_only_the_command_line_prints() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        if path.name != "cli.py":
            assert not [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Name) and node.id == "print"]


# ---------- README ----------


def block(label: str, language: str) -> str:
    (found,) = re.findall(rf"<!-- {label} -->\n```{language}\n(.*?)```", README, re.DOTALL)
    return str(found)


def run(program: str | Path, *more: str) -> str:
    arguments = ["-c", program] if isinstance(program, str) else [str(program), *more]
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, encoding="utf-8", env={**os.environ, "PYTHONUTF8": "1"}, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_readmes_program_prints_what_the_readme_says() -> None:
    program = block("program", "python")
    assert len(program.splitlines()) <= 12
    assert run(program) == block("output", "text")


def test_the_readmes_commands_are_those_that_ci_runs() -> None:
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for name, ending in (("demo", ".venv/bin/sentence-gate demo\n"), ("tests", ".venv/bin/pytest\n")):
        command = block(f"command: {name}", "console")
        assert command.count("\n") == 1
        assert command.startswith("$ python3 -m venv .venv && ")
        assert command.endswith(ending)
        assert f"readme_command {name}" in ci
    before_hosts, _, hosts = ci.partition("suite() {")
    assert "pip install" not in before_hosts.replace("apt-get install", "")
    for folder in [*(ROOT / "tests" / "hosts").iterdir(), ROOT / "tests" / "clients", ROOT / "tests" / "web"]:
        if folder.is_dir() and any(folder.glob("test_*.py")):
            assert str(folder.relative_to(ROOT)) in hosts


def test_the_readme_names_every_check_and_language() -> None:
    for check in sentence_gate.DEFAULT_CHECKS:
        assert f"`{check.__module__.rsplit('.', 1)[1]}`" in README
    for code in ORDER:
        assert languages.load(code).name in README


def test_the_readmes_policy_is_one() -> None:
    (policy,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    given = tomllib.loads(policy)
    made, default = sentence_gate.Policy.from_mapping(given), sentence_gate.Policy()
    assert set(given) == {field.name for field in dataclasses.fields(default)}
    assert not [key for key in given if getattr(made, key) == getattr(default, key)]


# ---------- examples ----------


def test_the_asynchronous_example() -> None:
    out = run(ROOT / "examples" / "async_stream.py")
    assert out.startswith("The pool opens at 8. It stays closed on 3 May.\n(the model's stream is closed)\n(")
    assert "45" not in out
    assert "Towels" not in out
    assert out.endswith("(stopped; sources cited: (1, 2))\n")


def test_the_cost_cap_counts_what_was_generated(tmp_path: Path) -> None:
    out = run(ROOT / "examples" / "cost_cap.py", str(tmp_path / "attempts.db"))
    requests = [line.split(": ", 1)[1].split("spent")[0].strip() for line in out.splitlines() if line.startswith("request")]
    assert requests == [
        "accepted",
        "no answer: stopped",
        "no answer: cancelled",
        "no answer: truncated",
        "not asked: the month's budget may not last",
    ]
    assert "attempt-1: 64 output tokens, estimated" in out  # with the sentence that was withheld
    assert "1896 of 2500" in out


def test_every_example_has_a_test() -> None:
    told = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    assert all(f'"{path.name}"' in told for path in (ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize(("module", "extra"), [("sentence_gate.contract", "contract"), ("sentence_gate.server", "server")])
def test_a_missing_extra_is_named(module: str, extra: str) -> None:
    program = f"import sys; sys.modules.update(dict.fromkeys(('anyio', 'jsonschema.exceptions'))); import {module}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert f"pip install 'sentence-gate[{extra}]'" in done.stderr
