"""The tests of the NeMo Guardrails host need NeMo: without it nothing here is collected."""

import importlib.util
import sys
from pathlib import Path

import pytest

collect_ignore_glob = [] if importlib.util.find_spec("nemoguardrails") else ["*.py"]

sys.path.insert(0, str(Path(__file__).parent))  # for the scripted model beside this file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """NeMo and what it imports warn of their own deprecations, and NeMo leaves the event loop open that it makes at construction."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for warning in ("DeprecationWarning", "ResourceWarning", "pytest.PytestUnraisableExceptionWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{warning}"))
