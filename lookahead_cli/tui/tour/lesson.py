"""The lesson: its stops in order, the step that each one shows, and what it says about it.

In a text `*…*` is a term where it is explained, and `{…}` a figure of the recorded step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.tour import figures, pointing, steps

PanelName = Literal["window", "pool", "accepted", "meter", "mask", "tree"]
Role = Literal["foreground", "accent", "bonus"]
_PARTS = re.compile(r"\*([^*]+)\*|\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of the lesson.

    Attributes:
        name: A word or two, for the line of all stops.
        title: What it is about.
        trace: Name of the recorded run.
        panels: The panels it shows, the most important first.
        find: Index of the step that it shows, of a whole run.
        figures: The figures of its text, of a run that looks at that step.
        text: What it says.
        pointer: What stands out on the panels.
    """

    name: str
    title: str
    trace: str
    panels: tuple[PanelName, ...]
    find: Callable[[RunView], int]
    figures: Callable[[RunView], figures.Figures]
    text: str
    pointer: Callable[[RunView], pointing.Pointer] = pointing.nothing

    def look(self, view: RunView) -> None:
        """Look at the stop's step."""
        view.look_at(self.find(view))

    def parts(self, view: RunView) -> Sequence[tuple[str, Role]]:
        """The text with its figures, in pieces of one role each.

        Args:
            view: The stop's run, looking at the stop's step.
        """
        said = self.figures(view)
        parts: list[tuple[str, Role]] = []
        end = 0
        for found in _PARTS.finditer(self.text):
            parts.append((self.text[end : found.start()], "foreground"))
            term, figure = found.groups()
            parts.append((term, "accent") if term else (said[figure], "bonus"))
            end = found.end()
        parts.append((self.text[end:], "foreground"))
        return [part for part in parts if part[0]]


STOPS: tuple[Stop, ...] = (
    Stop(
        "Prompt",
        "The prompt, and the current token",
        "greedy",
        ("accepted", "tree"),
        steps.first,
        figures.prompt,
        "A language model reads tokens, not letters. This prompt, dimmed in the panel, has {prompt_tokens} "
        "of them. One pass of the model, the *prefill*, takes in all but the last, and keeps what it worked "
        "out in the *KV cache*: {cached} tokens that no later pass computes again. The last one, ‘{root}’, "
        "is the *current token*. It stands at position {cached}, counted from 0, and is not in the cache "
        "yet. Decoding goes on in *steps*. Each step is one pass that begins with the current token and "
        "ends with at least one new token.",
    ),
    Stop(
        "Greedy",
        "One greedy step",
        "greedy",
        ("tree", "meter"),
        steps.least_certain,
        figures.greedy_step,
        "After the current token ‘{root}’ the model gives a probability to every token that it knows. "
        "*Greedy decoding* takes the likeliest, here ‘{choice}’ ({probability}); the next best was "
        "‘{runner_up}’ ({runner_up_probability}). It is emitted, becomes the current token, and the next "
        "step begins: one *node* fed, one token out. So {emitted} tokens have taken {steps} steps, and the "
        "*compression ratio* S, tokens divided by steps, is {ratio}. Each step reads all the model's "
        "weights from memory. A GPU computes faster than it reads, so a few more tokens in the same pass "
        "cost it next to nothing. Lookahead decoding uses that.",
    ),
    Stop(
        "Jacobi",
        "Jacobi decoding: guess in parallel",
        "jacobi",
        ("window", "meter"),
        steps.chain_matched,
        figures.jacobi,
        "Guess several tokens, and check them together: a chain of {width} tokens, the current one first, "
        "goes through one pass. Below each stands, in the row new, what the model says after it. A guess is "
        "right if the model says the same after a text that is right: {matched} here, marked ✓, so this "
        "step emits {emitted_now} tokens. The rest of the row new are the next guesses, until none changes "
        "any more; that *fixed point* is the greedy text. Press ↑ and ↓ to see other steps. It saves "
        "little, S is {ratio} so far: what was right, but in the wrong place, is overwritten and forgotten.",
    ),
    Stop(
        "Window",
        "The 2D window, and what is certain",
        "lookahead",
        ("window", "accepted"),
        steps.collected,
        figures.window,
        "Lookahead decoding remembers its guesses. The *window* has W = {columns} columns and N-1 = {rows} "
        "rows, one a Jacobi iteration, the oldest on top. Row r, column c guesses the token r + c places "
        "after the current one. So {cells_named}, which stand out, guess at one place, {place} ahead: "
        "‘{guesses}’. A step feeds all {cells} cells and yields the row new; then the oldest row leaves, "
        "and the others move up. Which tokens are certain? The current one, ‘{root}’, and the text before "
        "it. All the others are guesses, and none is shown as text before the model has confirmed it.",
        pointing.one_place,
    ),
    Stop(
        "n-gram",
        "Collecting an n-gram",
        "lookahead",
        ("window",),
        steps.collected,
        figures.collect,
        "Read the column +{column} downwards, its new cell last: ‘{ngram}’. The model said each of these "
        "tokens after the one above it, one in each iteration. Together they are an *n-gram* of N = "
        "{length} tokens that the model could say. Each step collects one from every column: here {new} are "
        "new to the pool (▾), {known} were known to it (↻). All of them are kept, right or wrong, since "
        "nobody can tell yet. They cost nothing more: their cells were in the pass anyway. Remember this "
        "one; step {used} will need it.",
        pointing.collected_column,
    ),
    Stop(
        "Pool",
        "The pool: which n-grams are kept, and why",
        "lookahead",
        ("pool", "accepted"),
        steps.full_key,
        figures.pool,
        "The *pool* files n-grams under their first token, the key. The current token is ‘{key}’, so its "
        "{count} n-grams are this step's *candidates*: each guesses the next {length} tokens. Behind each "
        "stands where it is from: the prompt, the output, or the window and the step. Under a key the "
        "newest G = {limit} are kept, since a text repeats what it said lately. One more, and the one not "
        "seen for longest is dropped; one seen again counts as new. In this step {inserted} came, "
        "{refreshed} came again, and the pool dropped {dropped}. The pool now holds {size} n-grams under "
        "{keys} keys.",
    ),
    Stop(
        "Verify",
        "Verification: all candidates in one pass",
        "lookahead",
        ("tree", "pool"),
        steps.shared_beginnings,
        figures.verification,
        "The {count} candidates and the window hang on the current token, ‘{root}’: a *token tree*. Equal "
        "beginnings share a node: that saves {merged}, and {nodes} are fed. The model answers after every "
        "node at once. *Verification* is a walk: after ‘{root}’ it wants ‘{first}’, and there is such a "
        "node, so go on to it (✓). After that it wants ‘{second}’: go on. Then it wants ‘{end}’, and no "
        "node there holds it: the walk ends. What it passed is what greedy decoding would have said in as "
        "many steps. So a wrong guess may cost time, but it never changes the text.",
        pointing.end_of_walk,
    ),
    Stop(
        "Hit",
        "A hit",
        "lookahead",
        ("pool", "accepted"),
        steps.full_hit,
        figures.hit,
        "The n-gram that was collected in step {born} is back. Its first token has become the current one, "
        "and the rest, ‘{tokens}’, matched in all {matched} places (✓): a *hit*. The step emits "
        "{emitted_now} tokens. The {free} with ★ came free of charge, for they took no step of their own; "
        "the last, ‘{bonus}’, is the model's own answer after them. So far {hits} of {steps} steps had a "
        "hit. It need not match to its end: one right token in front is one step saved.",
    ),
    Stop(
        "Miss",
        "A miss",
        "lookahead",
        ("pool", "meter"),
        steps.clear_miss,
        figures.miss,
        "This step had {count} candidates, and none was right. At each ✗ the panel says what the model "
        "wanted, ‘{wanted}’ ({wanted_probability}), and how likely the guess was to it; ‘{best}’ came "
        "nearest ({best_probability}). What follows a wrong token is not reached (·): it goes on from a "
        "text that is not ours. Is the step lost? No. The model's own answer is emitted, as in greedy "
        "decoding; only the other nodes, of {nodes}, were fed for nothing. And the pool learns: with each "
        "token emitted, the last {length} of the text go into it.",
    ),
    Stop(
        "Bonus",
        "The bonus token",
        "lookahead",
        ("tree", "pool"),
        steps.partial_hit,
        figures.bonus,
        "Of the candidate ‘{tokens}’ the first {matched} tokens were right; then the model wanted ‘{bonus}’ "
        "({bonus_probability}) and not ‘{got}’. That answer, too, is certain: it was computed in this pass, "
        "after tokens that are right. It is the *bonus token*. So {matched} matched tokens emit "
        "{emitted_now}; all {most} would emit {most_emitted}, and none at all still emits 1. The bonus "
        "token is the next current token. It was not fed, so it is not in the KV cache. The nodes of the "
        "walk stay in the cache, the others are dropped from it.",
        pointing.end_of_walk,
    ),
    Stop(
        "Mask",
        "The mask: who may see whom, and why",
        "lookahead",
        ("mask",),
        steps.plain_mask,
        figures.mask,
        "All nodes are in one pass, and the *attention mask* keeps their paths apart. A row looks, a column "
        "is seen (■). The cell {cell}, ‘{token}’, continues the first row up to +{column} and the cells "
        "above it: so it sees these {ancestors} nodes, itself, and the {cached} tokens in the KV cache. It "
        "may not see {other}, ‘{other_token}’, for its own path has ‘{instead}’ at that place. A candidate "
        "sees the current token and its own beginning. Thus each node gets the answer that it would get if "
        "its path alone were fed, and verification is exact.",
        pointing.hidden_cell,
    ),
    Stop(
        "S",
        "S: the steps that were saved",
        "lookahead",
        ("meter", "accepted"),
        steps.last,
        figures.compression,
        "At the end there are {emitted} tokens in {steps} steps: S = {ratio}, and {saved} % of greedy "
        "decoding's steps are saved. The token ids are {ids}. Of the steps {ones} emitted one token and "
        "{several} more than one; {free} tokens came free, and the panel says who guessed them. S depends "
        "on the text: code and repetition find much in the pool, a free story less. More columns W collect "
        "more, a longer N makes longer hits, a larger G tries more of them. Then S tends to rise, and so do "
        "the nodes, {nodes} a step here. And S counts steps, not seconds.",
    ),
    Stop(
        "Cost",
        "When it does not pay",
        "costly",
        ("meter", "window"),
        steps.last,
        figures.cost,
        "With W {columns}, N {length}, G {limit} this run has S = {ratio}. Yet it took {seconds} s, and "
        "greedy decoding {greedy_seconds} s: {time_ratio} times greedy's speed, so it was slower. Why? A "
        "step fed {nodes} nodes on average, and greedy feeds one. A CPU has no arithmetic to spare, so each "
        "step took longer by more than the steps became fewer. A GPU waits for its memory, and there the "
        "same nodes are almost free, until there are too many. So S and time are two figures. Measure both "
        "on your machine, with `lookahead bench`.",
    ),
)
"""The stops, in order."""
