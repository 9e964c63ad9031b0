import pytest
import torch

from lookahead_cli.decoding.readout import LogitsReadout, first_maxima
from lookahead_cli.decoding.tree import TokenTree


@pytest.mark.parametrize("vocabulary", [64, 640, 641, 97])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_first_of_the_highest_is_taken(vocabulary, dtype):
    torch.manual_seed(0)
    # A few values only: nearly every row has its highest several times.
    logits = torch.randint(-3, 4, (50, vocabulary)).to(dtype)
    logits[0] = float("-inf")
    logits[1] = 0
    wanted = [row.index(max(row)) for row in logits.float().tolist()]
    assert first_maxima(logits).tolist() == wanted


@pytest.mark.parametrize("vocabulary", [640, 641])
def test_the_likeliest_tokens_are_the_highest_of_the_whole_row(vocabulary):
    torch.manual_seed(0)
    logits = torch.randn(5, vocabulary)
    tree = TokenTree(1, 0)
    tokens, shares = LogitsReadout(logits, tree, []).likeliest(8)
    expected = logits.softmax(-1).topk(8)
    assert tokens == expected.indices.tolist()
    torch.testing.assert_close(torch.tensor(shares), expected.values)
