"""A conversation of five turns with the default model, in a real terminal, all of it read off the screen.

It is stopped, asked again, left, resumed and exported; what is on the screen is compared with what
transformers itself answers to the same conversation, with the exported file, and with the screen after
another start.
"""

from __future__ import annotations

import pytest
import torch

from lookahead_cli.models.stock import stock
from tests.programs import ProgramTerminal
from tests.tui.conversation_read import Read, read_conversation, words

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("model")]

TOKENS = 20
FLAGS = ("--model", "smollm2-135m", "--dtype", "float32", "-t", str(TOKENS), "-W", "3", "-N", "3", "-G", "3")
QUESTIONS = (
    "What is the capital of France?",
    "Tell me a story about a fox.",
    "Name three colours.",
    "What is two and two?",
    "Write one sentence about the sea.",
)
F2, ESC, CTRL_R, CTRL_Q = "\x1bOQ", "\x1b", "\x12", "\x11"


def answered(count):
    """True once so many answers are on the screen, the last of them with its figures."""

    def seen(screen):
        answers = [each for each in read_conversation(screen) if each.role == "model"]
        return len(answers) == count and all(each.figures for each in answers)

    return seen


def begun(screen):
    """True once the second answer has some words, on a screen that is not half the one before."""
    said = read_conversation(screen)
    if [each.role for each in said] != ["you", "model"] * 2 or said[2].text != QUESTIONS[1]:
        return False
    return len(said[3].text.split()) >= 3 and not said[3].figures


def read(terminal, answers):
    """The conversation once so many answers have ended, and the screen is drawn to its end."""
    terminal.read_until(answered(answers))
    return read_conversation(terminal.read_until_quiet(0.2))


def ask(terminal, question, answers):
    terminal.press(question + "\r")
    return read(terminal, answers)


def greedy_answer(model, said):
    """What transformers itself answers to what was said so far, questions and answers by turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[number % 2], "content": text} for number, text in enumerate(said)]
    prompt = torch.tensor([model.encode_chat(messages)])
    with torch.inference_mode(), stock(model.runner.model) as plain:
        output = plain.generate(
            prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=TOKENS
        )
    return words(model.tokenizer.decode(output[0, prompt.shape[1] :], skip_special_tokens=True))


def test_five_turns_with_a_stop_another_answer_a_restart_and_an_export(default_model, tmp_path):
    environment = {"LOOKAHEAD_DATA": str(tmp_path / "data"), "OMP_NUM_THREADS": "1"}
    with ProgramTerminal(["chat", *FLAGS], environment, 100, 60) as terminal:
        terminal.read_until(lambda screen: "float32 · cpu" in screen)
        terminal.press(F2)
        ask(terminal, QUESTIONS[0], 1)
        terminal.press(QUESTIONS[1] + "\r")
        terminal.read_until(begun)
        terminal.press(ESC)
        *_, stopped = read(terminal, 2)
        assert "stopped" in stopped.figures
        assert stopped.text
        terminal.press(CTRL_R)
        *_, stopped_still, again = read(terminal, 3)
        assert stopped_still == stopped
        assert again.text.startswith(stopped.text)
        assert "stopped" not in again.figures
        before = ask(terminal, QUESTIONS[2], 4)
        terminal.press(CTRL_Q)
        assert terminal.exit_code() == 0
    file = tmp_path / "talk.md"
    with ProgramTerminal(["chat", "--resume", *FLAGS], environment, 100, 60) as terminal:
        terminal.read_until(lambda screen: "float32 · cpu" in screen)
        resumed = read(terminal, 3)
        # The answer that was stopped is on a branch of its own.
        assert resumed == [each for each in before if each != stopped]
        for turn in (4, 5):
            said = ask(terminal, QUESTIONS[turn - 1], turn)
        terminal.press(f"/export {file}\r")
        terminal.read_until(lambda screen: file.name in screen.splitlines()[-4])
        terminal.press(CTRL_Q)
        assert terminal.exit_code() == 0
    assert tuple(each.text for each in said if each.role == "you") == QUESTIONS
    texts = [each.text for each in said]
    for turn in range(5):
        assert texts[2 * turn + 1] == greedy_answer(default_model, texts[: 2 * turn + 1])
    assert exported(file.read_text()) == [(each.role, each.text) for each in said]
    with ProgramTerminal(["chat", "--resume", *FLAGS], environment, 100, 60) as terminal:
        assert read(terminal, 5) == said
        terminal.press(CTRL_Q)
        assert terminal.exit_code() == 0


def exported(markdown):
    """Who says what in the exported document, without the figures under an answer."""
    said = []
    for part in markdown.split("\n## ")[1:]:
        heading, _, text = part.partition("\n")
        if heading != "You":
            text, _, figures = text.strip().rpartition("\n")
            assert figures.startswith("*")
        said.append(("you" if heading == "You" else "model", words(text)))
    return said


SCREEN = """\
model · float32
 Ask something below.

 you: What is
 this?

 model:
 A list:

  • one
  • two

 6 tokens in 3 steps, S 2.00,
 1.0 GB

 The last question is answered again.

 model: reading the prompt…
 you: /help
 Ask something
 keys"""


def test_the_screen_is_read_as_a_person_reads_it():
    assert read_conversation(SCREEN) == [
        Read("you", "What is this?"),
        Read("model", "A list: • one • two", "6 tokens in 3 steps, S 2.00, 1.0 GB"),
        Read("model", ""),
        Read("you", "/help"),
    ]
