"""The tests of the page need programs: without nginx and Caddy, or Chromium and its driver, theirs aren't collected."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

for name in [name for name in os.environ if name.startswith("OPENAI_")]:
    del os.environ[name]  # no key and no address of the developer's is used

sys.path.insert(0, str(Path(__file__).parent))  # for the programs beside this file

PACKAGES = ("starlette", "sse_starlette", "uvicorn", "httpx2")
NEEDED = {  # beside the packages above: packages, programs
    "test_assistant.py": ([], []),
    "test_many.py": ([], []),
    "test_proxies.py": (["openai"], ["nginx", "caddy"]),
    "test_browser.py": (["openai", "selenium"], ["nginx", "caddy", "chromium", "chromedriver"]),
}
os.environ["PATH"] += os.pathsep + "/usr/sbin"  # Debian's place for nginx
collect_ignore_glob = [
    file
    for file, (packages, programs) in NEEDED.items()
    if not (all(map(importlib.util.find_spec, (*PACKAGES, *packages))) and all(map(shutil.which, programs)) and Path("/proc/self").exists())
]
