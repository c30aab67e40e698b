"""The tests of the LangChain host need what the extra `test-langchain` installs: without it nothing here is collected."""

import importlib.util
import os
import sys
from pathlib import Path

NEEDED = ("langchain", "langchain_anthropic", "langchain_core", "langchain_openai", "langchain_tests", "langgraph")

for name in [name for name in os.environ if name.startswith(("LANGSMITH_", "LANGCHAIN_", "OPENAI_", "ANTHROPIC_", "LC_"))]:
    del os.environ[name]  # no run is traced to the outside, whatever the developer's environment says

sys.path.insert(0, str(Path(__file__).parent))  # for the scripted models and servers beside this file

collect_ignore_glob = [] if all(map(importlib.util.find_spec, NEEDED)) else ["*.py"]
