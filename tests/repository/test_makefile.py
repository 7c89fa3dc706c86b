"""The entrance of the repository: every target explains itself, and what CI and the README say is what `make` has."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PROMISED = {"demo", "test", "check", "lint", "bench", "wheel", "docs", "soak", "check-tools"}
MAKEFILE = (ROOT / "Makefile").read_text()
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=ROOT, env=ENVIRONMENT | environment, capture_output=True, text=True, check=False)


def test_make_alone_prints_every_target_with_its_help() -> None:
    shown = dict(re.findall(r"^  make (\S+) +(\S.*)$", make().stdout, re.MULTILINE))
    phony = set(re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[-1].split())
    assert set(shown) == phony
    assert set(shown) >= PROMISED


def test_the_readme_names_the_contributors_commands_after_the_users_install() -> None:
    readme = (ROOT / "README.md").read_text()
    commands = re.findall(r"^    (make \S+)", readme, re.MULTILINE)
    assert commands[:3] == ["make demo", "make test", "make check"]
    assert readme.index("pip install") < readme.index("make demo")


def test_ci_runs_what_the_readme_names_and_nothing_else() -> None:
    script = (ROOT / ".ci" / "run").read_text().splitlines()
    run = [line.partition("  #")[0] for line in script if line and not line.startswith(("#", "set ", "cd ", "export "))]
    run = [re.sub(r" --(jobs=2|output-sync)\b", "", line) for line in run]
    readme = (ROOT / "README.md").read_text()
    assert run == ["make check", "make test"]
    assert all(f"    {command}" in readme for command in run)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_an_active_virtual_environment_is_ignored() -> None:
    planned = make("--dry-run", "--always-make", "build", VIRTUAL_ENV="/nowhere", PYTHONPATH="/nowhere").stdout
    assert "/nowhere" not in planned
    assert f"VIRTUAL_ENV={ROOT}/.venv" in planned


@pytest.mark.parametrize(
    ("missing", "cure"),
    [({"PYTHON": "python-of-nowhere"}, "apt-get install python3"), ({"CC": "cc-of-nowhere"}, "apt-get install build-essential")],
)
def test_a_missing_tool_is_named_with_its_cure(missing: dict[str, str], cure: str) -> None:
    done = make("check-tools", *(f"{name}={value}" for name, value in missing.items()), **missing)
    assert done.returncode != 0
    assert next(iter(missing.values())) in done.stderr
    assert cure in done.stderr


def test_all_tools_are_here() -> None:
    assert make("check-tools").returncode == 0
