"""The tests with real clients need them (extra test-clients): without them nothing here is collected."""

import importlib.util
import os
import sys
from pathlib import Path

for name in [name for name in os.environ if name.startswith(("OPENAI_", "ANTHROPIC_", "AWS_", "GOOGLE_", "GEMINI_", "MISTRAL_", "CO_"))]:
    del os.environ[name]  # no key and no address of the developer's is used
os.environ |= {
    "AWS_ACCESS_KEY_ID": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}

sys.path.insert(0, str(Path(__file__).parent))  # for the scripted server beside this file

NEEDED = ("openai", "anthropic", "boto3", "httpx2", "mistralai", "cohere", "ollama", "google.genai", "starlette", "uvicorn")
PACKAGES = ("anthropic", "aws", "google_genai", "mistralai", "ollama", "openai")


def _there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


collect_ignore_glob = [] if all(map(_there, NEEDED)) else ["test_*.py"]
if not all(_there(f"langchain_{name}") for name in PACKAGES):
    collect_ignore_glob.append("test_langchain_packages.py")
