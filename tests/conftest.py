"""What holds for every test: no host phones home or reads the developer's files, and how many examples Hypothesis draws."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Set before any host is imported: they read these once.
_HOME = Path(tempfile.mkdtemp(prefix="sentence-gate-home-"))
(_HOME / ".guardrailsrc").write_text("enable_metrics=false\nuse_remote_inferencing=false\n")
os.environ["HOME"] = str(_HOME)
os.environ["NEMO_GUARDRAILS_NO_USAGE_STATS"] = "1"
os.environ["OTEL_SDK_DISABLED"] = "true"
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)

_ALWAYS = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("ci", max_examples=200, **_ALWAYS)
settings.register_profile("deep", max_examples=2000, **_ALWAYS)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--deep", action="store_true", help="2,000 examples a property instead of 200")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("deep" if config.getoption("--deep") else os.environ.get("HYPOTHESIS_PROFILE", "ci"))
