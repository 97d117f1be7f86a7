"""Installs the npm packages of tests/interop and its folders for tests."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from daemon import SOURCE_DIR
from server_process import require

INTEROP = SOURCE_DIR / "tests" / "interop"
NOT_REACHED = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH",
               "EHOSTUNREACH", "ERR_SOCKET_TIMEOUT", "ENOTCACHED")


def install_packages(source=INTEROP):
    """A temporary folder with the packages that this one names, and its programs. Skips the module when node or the
    registry is missing."""
    require("node", "npm")
    folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    for path in source.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    result = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0",
         "--fetch-timeout=10000", "--cache", str(folder / "cache")],
        cwd=folder, capture_output=True, encoding="utf-8", timeout=100, check=False,
    )
    if result.returncode != 0:
        if any(word in result.stderr for word in NOT_REACHED):
            raise unittest.SkipTest("the npm registry cannot be reached")
        raise RuntimeError("npm ci: " + result.stderr)
    return folder
