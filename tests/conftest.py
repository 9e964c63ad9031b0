"""The default model, loaded once a worker and fetched once a machine."""

from __future__ import annotations

import os
import tempfile

import pytest

from tests.terminal import Terminal

os.environ.setdefault("OMP_NUM_THREADS", "1")
# A person's colour settings must not change what the tests see.
for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR"):
    os.environ.pop(name, None)
# Nor must their settings.
for name in [name for name in os.environ if name.startswith("LOOKAHEAD_") and name != "LOOKAHEAD_CACHE"]:
    del os.environ[name]
for name in ("LOOKAHEAD_CONFIG", "LOOKAHEAD_DATA"):
    os.environ[name] = tempfile.mkdtemp(prefix="lookahead-tests-")


@pytest.fixture(autouse=True)
def no_program_is_left_running():
    yield
    Terminal.end_all()


@pytest.fixture(scope="session")
def default_model():
    from lookahead_cli.models.language_model import load_model

    return load_model("smollm2-135m", dtype="float32")
