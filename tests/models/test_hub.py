"""The hub's address and its offline switch are read when its library is imported: each case is a process."""

import json
import os
import subprocess
import sys

import pytest

from tests.models.fake_hub import FakeHub
from tests.tiny import save_tiny_model

SCRIPT = """
import json, sys
from lookahead_cli.errors import LookaheadError
from lookahead_cli.models.loading import load_checkpoint

answers = {}
for spec in sys.argv[1:]:
    reports = []
    try:
        loaded = load_checkpoint(spec, on_progress=reports.append)
        answers[spec] = {"name": loaded.name, "vocabulary": len(loaded.tokenizer)}
    except LookaheadError as error:
        answers[spec] = {"kind": type(error).__name__, "message": error.message, "hint": error.hint}
    answers[spec]["bytes"] = [[r.label, r.done, r.total] for r in reports if r.unit == "bytes"]
print(json.dumps(answers))
"""


def _load(specs, endpoint, home, **variables):
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))
    }
    environment |= {
        "HF_ENDPOINT": endpoint,
        "HF_HOME": str(home),
        "HF_HUB_ETAG_TIMEOUT": "3",
        "no_proxy": "127.0.0.1",
    }
    answer = subprocess.run(
        [sys.executable, "-c", SCRIPT, *specs],
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout), answer.stderr


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    root = tmp_path_factory.mktemp("hub")
    whole = save_tiny_model(root / "whole")
    (whole / "original").mkdir()
    (whole / "original" / "other.safetensors").write_bytes(b"never fetched")
    (whole / "consolidated.safetensors").write_bytes(b"never fetched")
    gguf_only = root / "gguf"
    gguf_only.mkdir()
    (gguf_only / "model.gguf").write_bytes(b"GGUF")
    recurrent = root / "recurrent"
    recurrent.mkdir()
    (recurrent / "config.json").write_text(
        '{"model_type": "mamba", "num_hidden_layers": 2, "hidden_size": 32}'
    )
    (recurrent / "model.safetensors").write_bytes(b"never fetched")
    no_weights = root / "no-weights"
    no_weights.mkdir()
    (no_weights / "config.json").write_bytes((whole / "config.json").read_bytes())
    return FakeHub(
        {
            "tiny/whole": whole,
            "tiny/gguf": gguf_only,
            "tiny/recurrent": recurrent,
            "tiny/no-weights": no_weights,
            "tiny/gated": whole,
            "tiny/forbidden": whole,
        },
        refusals={"tiny/gated": (403, "GatedRepo"), "tiny/forbidden": (403, "")},
        failures={"tiny/failing": 500},
    )


@pytest.fixture(scope="module")
def answers(hub, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    specs = [*hub.repositories, "tiny/missing", "tiny/failing"]
    with hub.running() as endpoint:
        found, errors = _load(specs, endpoint, home)
        assert errors == ""
    return found | {"home": home}


def test_a_model_of_the_hub_is_fetched_and_loaded(answers):
    assert answers["tiny/whole"]["name"] == "whole"
    assert answers["tiny/whole"]["vocabulary"] == 320


def test_fetching_from_the_hub_counts_bytes(answers):
    label, done, total = answers["tiny/whole"]["bytes"][-1]
    assert label == "fetching tiny/whole"
    assert done == total > 10_000


def test_only_what_is_needed_is_fetched(answers, hub):
    fetched = [
        path for path in hub.fetched if path.startswith("tiny/whole/") and path.endswith(".safetensors")
    ]
    assert len(fetched) == 1
    assert fetched[0].endswith("/model.safetensors")


def test_a_gated_model_is_told_with_where_to_agree(answers):
    assert "'tiny/gated' is gated" in answers["tiny/gated"]["message"]
    assert "/tiny/gated and run `hf auth login`" in answers["tiny/gated"]["hint"]


def test_a_model_that_may_not_be_read_is_told(answers):
    assert "refused access to 'tiny/forbidden' (403)" in answers["tiny/forbidden"]["message"]


def test_a_model_that_the_hub_does_not_have_is_told(answers):
    assert "The hub has no model 'tiny/missing', or it is private." in answers["tiny/missing"]["message"]


def test_a_failing_hub_is_told_with_its_answer(answers):
    assert "answered 500 for 'tiny/failing'" in answers["tiny/failing"]["message"]


def test_a_repository_of_gguf_files_is_told(answers):
    assert "no config.json" in answers["tiny/gguf"]["message"]
    assert ".gguf" in answers["tiny/gguf"]["hint"]


def test_a_repository_without_weights_is_told(answers):
    assert "has no weights" in answers["tiny/no-weights"]["message"]


def test_a_model_that_cannot_be_decoded_is_refused_before_its_weights_are_fetched(answers, hub):
    assert answers["tiny/recurrent"]["kind"] == "UnsupportedModelError"
    assert "recurrent state" in answers["tiny/recurrent"]["message"]
    assert not [path for path in hub.fetched if path.startswith("tiny/recurrent/") and "safetensors" in path]


def test_a_hub_that_cannot_be_reached_is_told_and_the_cache_still_serves(answers):
    found, errors = _load(["tiny/whole", "tiny/other"], "http://127.0.0.1:9", answers["home"])
    assert errors == ""
    assert found["tiny/whole"]["name"] == "whole"
    assert "the hub at http://127.0.0.1:9 cannot be reached" in found["tiny/other"]["message"]
    assert "smollm2-135m" in found["tiny/other"]["hint"]


def test_offline_the_cache_serves_and_the_rest_is_told(answers):
    found, errors = _load(
        ["tiny/whole", "tiny/other"], "http://127.0.0.1:9", answers["home"], HF_HUB_OFFLINE="1"
    )
    assert errors == ""
    assert found["tiny/whole"]["name"] == "whole"
    assert "HF_HUB_OFFLINE" in found["tiny/other"]["message"]
