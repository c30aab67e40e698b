"""The tests of the NeMo Guardrails host need NeMo: without it nothing here is collected."""

import asyncio
import gc
import importlib.util
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ["NEMO_GUARDRAILS_NO_USAGE_STATS"] = "1"  # nothing is reported to the outside
os.environ["OTEL_SDK_DISABLED"] = "true"
for name in [name for name in os.environ if name.startswith(("OPENAI_", "MAIN_MODEL_", "NEMO_GUARDRAILS_IORAILS"))]:
    del os.environ[name]

collect_ignore_glob = [] if importlib.util.find_spec("nemoguardrails") else ["*.py"]

sys.path.insert(0, str(Path(__file__).parent))  # for the scripted models beside this file

if not collect_ignore_glob:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what NeMo imports warns of its own deprecations
        import nemoguardrails.server.api  # noqa: F401


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """NeMo and what it imports warn of their own deprecations, and NeMo leaves the event loop open that it makes at construction."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            for warning in ("DeprecationWarning", "FutureWarning", "ResourceWarning", "pytest.PytestUnraisableExceptionWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{warning}"))


@pytest.fixture(autouse=True, scope="module")
def no_loop_is_left() -> Iterator[None]:
    """Event loops that NeMo has made are gone before pytest looks for what was left open."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            loop = asyncio.get_event_loop_policy().get_event_loop()
        except RuntimeError:
            loop = None
        if loop is not None and not loop.is_running():
            loop.close()
        asyncio.set_event_loop(None)
        del loop
        gc.collect()
