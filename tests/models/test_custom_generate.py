"""`model.generate(custom_generate=lookahead_generate)` honours what `generate` was given."""

from __future__ import annotations

import pytest
import torch
from transformers import StoppingCriteria, StoppingCriteriaList
from transformers.generation import LogitsProcessor, LogitsProcessorList, StopStringCriteria

from lookahead_cli import lookahead_generate
from lookahead_cli.errors import UnsupportedModelError
from lookahead_cli.models.probe import VERIFIED
from tests.tiny import tiny_model, tiny_tokenizer

PROMPT = [(7 * at * at + 5 * at) % 250 + 5 for at in range(30)]


@pytest.fixture(scope="module")
def model():
    return tiny_model().to(torch.float64).eval()


def both(model, prompt=PROMPT, **settings):
    inputs = torch.tensor([prompt])
    common = {"attention_mask": torch.ones_like(inputs), "pad_token_id": 0, "max_new_tokens": 30, **settings}
    plain = model.generate(inputs, do_sample=False, **common)
    ours = model.generate(
        inputs, do_sample=False, custom_generate=lookahead_generate, window_size=5, ngram_size=3, **common
    )
    return plain, ours


def test_ids_are_those_of_generates_own_loop(model):
    plain, ours = both(model)
    assert ours.tolist() == plain.tolist()


@pytest.mark.parametrize(
    "settings", [{"repetition_penalty": 1.3}, {"no_repeat_ngram_size": 2}, {"min_new_tokens": 20}]
)
def test_the_generation_configs_processors_are_honoured(model, settings):
    plain, ours = both(model, **settings)
    assert ours.tolist() == plain.tolist()


def test_what_comes_back_is_an_ordinary_tensor(model):
    _, ours = both(model)
    assert not ours.is_inference()
    ours[0, 0] = 3


def test_a_draft_model_cannot_be_given(model):
    with pytest.raises(ValueError, match="takes no draft model"):
        model.generate(torch.tensor([PROMPT]), custom_generate=lookahead_generate, method="draft")


def test_processors_of_the_caller_see_every_path(model):
    class Odd(LogitsProcessor):
        def __call__(self, input_ids, scores):
            scores = scores.clone()
            scores[:, input_ids[0, -1] % 2 :: 2] -= 5
            return scores

    plain, ours = both(model, logits_processor=LogitsProcessorList([Odd()]))
    assert ours.tolist() == plain.tolist()


def test_stopping_criteria_are_asked_after_every_token(model):
    class AfterSeven(StoppingCriteria):
        def __call__(self, input_ids, scores, **_):
            return torch.tensor([input_ids.shape[1] >= len(PROMPT) + 7])

    plain, ours = both(model, stopping_criteria=StoppingCriteriaList([AfterSeven()]))
    assert ours.tolist() == plain.tolist()
    assert ours.shape[1] == len(PROMPT) + 7


def test_stop_strings_and_several_end_tokens_end_it(model):
    free = both(model)[0][0, len(PROMPT) :].tolist()
    plain, ours = both(model, eos_token_id=[free[11], 319])
    assert ours.tolist() == plain.tolist()
    # `generate` keeps its tokenizer from custom loops, so stop strings come as a criterion.
    pairs = (tiny_tokenizer().decode(free[at : at + 2]) for at in range(2, 20))
    text = next(text for text in pairs if text.isascii() and text.isprintable() and len(text) > 1)
    criteria = StoppingCriteriaList([StopStringCriteria(tiny_tokenizer(), [text])])
    plain, ours = both(model, stopping_criteria=criteria)
    assert ours.tolist() == plain.tolist()
    assert ours.shape[1] < len(PROMPT) + 30


def test_on_step_gets_every_record(model):
    inputs = torch.tensor([PROMPT])
    steps = []
    ours = model.generate(
        inputs, do_sample=False, max_new_tokens=30, custom_generate=lookahead_generate, on_step=steps.append
    )
    assert [token for step in steps for token in step.token_ids] == ours[0, len(PROMPT) :].tolist()


def test_sampling_follows_torchs_seed_and_is_the_same_for_every_method(model):
    inputs = torch.tensor([PROMPT])
    texts = []
    for seed, method in ((1, "lookahead"), (1, "greedy"), (2, "lookahead")):
        torch.manual_seed(seed)
        texts.append(
            model.generate(
                inputs,
                do_sample=True,
                top_p=0.9,
                max_new_tokens=30,
                custom_generate=lookahead_generate,
                method=method,
            ).tolist()
        )
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("method", ["greedy", "lookahead", "prompt-lookup"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"begin_suppress_tokens": list(range(0, 320, 2))},
        {"forced_eos_token_id": 7},
        {"eos_token_id": list(range(5, 320, 2)), "min_new_tokens": 9},
        {"repetition_penalty": 3.0},
    ],
)
def test_padding_on_the_left_changes_nothing(model, settings, method):
    inputs = torch.tensor([[0, 0, *PROMPT]])
    mask = torch.tensor([[0, 0, *[1] * len(PROMPT)]])
    common = {
        "attention_mask": mask, "do_sample": False, "max_new_tokens": 20, "pad_token_id": 0, **settings
    }  # fmt: skip
    plain = model.generate(inputs, **common)
    ours = model.generate(inputs, custom_generate=lookahead_generate, method=method, **common)
    assert ours.tolist() == plain.tolist()


@pytest.mark.parametrize("stray", [{}, {"use_sliding_window": False}, {"use_sliding_window": True}])
@pytest.mark.parametrize("model_type", sorted(VERIFIED))
def test_a_window_counts_where_the_model_itself_looks_at_it(model_type, stray):
    # Without a cache, `generate` is the model's own function; its cache drops entries of a window that models
    # such as llama never look at.
    model = tiny_model(model_type, sliding_window=12, **stray)
    inputs = torch.tensor([[*PROMPT, *PROMPT[:10]]])
    common = {"attention_mask": torch.ones_like(inputs), "do_sample": False, "max_new_tokens": 12}
    plain = model.generate(inputs, use_cache=False, pad_token_id=0, **common)
    ours = model.generate(
        inputs, custom_generate=lookahead_generate, window_size=5, ngram_size=3, pad_token_id=0, **common
    )
    assert ours.tolist() == plain.tolist()


@pytest.mark.parametrize("name", ["position_ids", "token_type_ids"])
def test_inputs_that_would_change_the_logits_are_refused(name):
    given = {name: torch.tensor([[2 * at for at in range(len(PROMPT))]])}
    with pytest.raises(ValueError, match=f"leave out {name}"):
        tiny_model("gpt2").generate(
            torch.tensor([PROMPT]), max_new_tokens=2, custom_generate=lookahead_generate, **given
        )


def test_a_kind_of_model_that_no_test_runs_is_tried_first():
    model = tiny_model("starcoder2")
    forward = model.forward

    def without_mask(attention_mask=None, **inputs):
        return forward(**inputs)

    model.forward = without_mask
    with pytest.raises(UnsupportedModelError, match="in a trial"):
        model.generate(torch.tensor([PROMPT]), max_new_tokens=5, custom_generate=lookahead_generate)


def test_a_record_is_returned_where_one_is_asked_for(model):
    _, ours = both(model, return_dict_in_generate=True)
    assert ours.sequences.shape == (1, len(PROMPT) + 30)


def test_a_batch_is_refused(model):
    with pytest.raises(ValueError, match="one sequence at a time"):
        model.generate(torch.tensor([PROMPT, PROMPT]), max_new_tokens=2, custom_generate=lookahead_generate)


def test_attention_that_misreads_a_tree_is_refused(model, monkeypatch):
    monkeypatch.setattr(model.config, "_attn_implementation_internal", "flex_attention")
    with pytest.raises(UnsupportedModelError, match="flex_attention"):
        lookahead_generate(model, torch.tensor([PROMPT]))


def refused(model, prompt=PROMPT, **settings):
    inputs = torch.tensor([prompt])
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - each test looks at the sentence
        model.generate(
            inputs, custom_generate=lookahead_generate, do_sample=False, **{"max_new_tokens": 2, **settings}
        )
    return str(caught.value)


def test_a_prompt_that_fills_the_context_is_refused(model):
    assert "context holds 256" in refused(model, [5] * 320, attention_mask=torch.ones(1, 320))


def test_processors_that_keep_state_are_refused(model):
    assert "keeps state" in refused(model, guidance_scale=1.5)


@pytest.mark.parametrize("output", ["output_scores", "output_logits", "output_hidden_states"])
def test_outputs_besides_the_sequences_are_refused(model, output):
    assert output in refused(model, return_dict_in_generate=True, **{output: True})


@pytest.mark.parametrize("hidden", [10, len(PROMPT) - 1])
def test_a_mask_that_hides_a_token_of_the_text_is_refused(model, hidden):
    mask = torch.ones(1, len(PROMPT), dtype=torch.long)
    mask[0, hidden] = 0
    assert "on the left alone" in refused(model, attention_mask=mask)


def test_a_full_context_is_said(model):
    prompt = (PROMPT * 9)[:250]
    with pytest.warns(UserWarning, match="context of 256 tokens is full"):
        ours = model.generate(
            torch.tensor([prompt]), do_sample=False, max_new_tokens=30, custom_generate=lookahead_generate
        )
    assert ours.shape[1] == 256


def test_padding_is_refused_where_positions_depend_on_the_length():
    stretched = tiny_model(rope_parameters={"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0})
    mask = torch.tensor([[0, *[1] * (len(PROMPT) - 1)]])
    assert "leave out the padding" in refused(stretched, attention_mask=mask)


def test_an_unsupported_model_is_refused_by_name():
    with pytest.raises(UnsupportedModelError, match=r"mamba.*recurrent state"):
        tiny_model("mamba", state_size=4).generate(
            torch.tensor([PROMPT]), max_new_tokens=2, custom_generate=lookahead_generate
        )
