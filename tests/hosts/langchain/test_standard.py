"""LangChain's own standard suites pass for the gated model exactly as for the bare one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import sentence_gate

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """class -> test -> "passed", "skipped" or "failed", from a pytest without this project's settings"""
    work = tmp_path_factory.mktemp("standard")
    (work / "pytest.ini").write_text("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n")
    told = work / "told.xml"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(sentence_gate.__file__).parents[1]), str(HERE)])}
    command = [sys.executable, "-m", "pytest", "-c", str(work / "pytest.ini"), "--rootdir", str(HERE), "-p", "no:cacheprovider", "-q"]
    command += ["--benchmark-disable", "-p", "no:langsmith", f"--junitxml={told}", str(HERE / "standard_suites.py")]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert told.exists(), run.stdout + run.stderr
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for case in ET.parse(told).iter("testcase"):
        kinds = {child.tag for child in case}
        outcome = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"
        found[case.attrib["classname"].rsplit(".", 1)[-1]][case.attrib["name"]] = outcome
    return found


@pytest.mark.parametrize(("suite", "at_least"), [("Unit", 7), ("Integration", 38)])
def test_the_gated_model_passes_what_the_bare_one_passes(outcomes: dict[str, dict[str, str]], suite: str, at_least: int) -> None:
    bare, gated = outcomes[f"TestBare{suite}"], outcomes[f"TestGated{suite}"]
    assert gated == bare
    assert list(gated.values()).count("passed") >= at_least
    assert "failed" not in gated.values()
