"""Tokens read one by one give the text that the tokenizer itself gives."""

from __future__ import annotations

import random

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from lookahead_cli.models.tokens import TokenTexts
from tests.tiny import SENTENCES

SPECIAL = ["[PAD]", "[UNK]", "[SEP]"]


def word_piece():
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer, trainers.WordPieceTrainer(vocab_size=200, special_tokens=SPECIAL, show_progress=False)


def unigram():
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer, trainers.UnigramTrainer(
        vocab_size=150, special_tokens=SPECIAL, unk_token="[UNK]", show_progress=False
    )


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer, trainers.BpeTrainer(vocab_size=300, special_tokens=SPECIAL, show_progress=False)


@pytest.mark.parametrize("make", [word_piece, unigram, byte_level])
def test_their_sum_is_the_text_but_for_a_blank_before_it(make):
    tokenizer, trainer = make()
    tokenizer.train_from_iterator([*SENTENCES, "the cat sat, and the dog was loving it."] * 3, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]")
    texts = TokenTexts(fast)
    drawn = random.Random(3)
    for _ in range(200):
        # A text begins with a word: WordPiece shows the ## of a piece that has none before it.
        ids = [texts._word] if make is word_piece else []
        ids += [drawn.randrange(len(SPECIAL), len(fast)) for _ in range(drawn.randrange(1, 9))]
        summed = b"".join(texts(token).raw for token in ids).decode(errors="replace")
        assert summed.lstrip() == fast.decode(ids, clean_up_tokenization_spaces=False).lstrip()
