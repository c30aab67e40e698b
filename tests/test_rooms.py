"""rails/ and validators/ lie outside the package that import-linter watches: they import downward only, and never another host."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ABOVE = {"__main__", "cli", "demo", "replay", "server", "turns", "nemo", "langchain"}
ALLOWED = {"rails": ({"nemoguardrails"}, ABOVE - {"nemo"}), "validators": ({"guardrails", "litellm", "pydantic"}, ABOVE)}


@pytest.mark.parametrize("path", sorted([*(ROOT / "rails").rglob("*.py"), *(ROOT / "validators").rglob("*.py")]), ids=str)
def test_hosts_outside_the_package_import_downward_only(path: Path) -> None:
    frameworks, above = ALLOWED[path.relative_to(ROOT).parts[0]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        whole = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        parts = [f"{node.module}.{alias.name}" for alias in node.names] if isinstance(node, ast.ImportFrom) and not node.level else []
        for top, inner, *_ in (f"{name}.".split(".") for name in whole + parts):
            assert top in frameworks | {"sentence_gate"} | set(sys.stdlib_module_names)
            assert top != "sentence_gate" or inner not in above


def test_the_namespace_is_left_alone() -> None:
    assert not (ROOT / "validators" / "guardrails_ai" / "__init__.py").exists()
