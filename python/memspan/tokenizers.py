"""Tokenizers from your own file, for models whose vocabulary is not embedded: `load` one, and register a model that counts by it.

Not here: downloading one. Get `tokenizer.json` from where the model is published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspan import _core
from memspan._fence import guarded
from memspan._values import dataclass

if TYPE_CHECKING:
    import os

__all__ = ["Tokenizer", "load"]


@dataclass(frozen=True)
class Tokenizer:
    """A tokenizer that was loaded: it stays for the life of the process, and threads may share it.

    Attributes:
        name: The name that `Model.encoding` takes: the file's name and a hash of what is in it.
    """

    name: str

    def count(self, text: str) -> int:
        """How many tokens a text is, as ordinary text: special tokens are not looked for."""
        return _core.count_by_encoding(self.name, text)


def load(path: str | os.PathLike[str], *, pattern: str | None = None) -> Tokenizer:
    """Loads a tokenizer: a `tokenizer.json` of Hugging Face, a SentencePiece `.model`, a `tekken.json` of Mistral, or a `.tiktoken` file.

    Of a tokenizer.json, byte-pair encodings are understood: byte-level ones (Llama 3, Qwen, DeepSeek, GPT-2), `ignore_merges` included,
    and those of SentencePiece with tokens for bytes (Llama 2, Mistral, Gemma). Of a SentencePiece model, byte-pair encodings without a
    table of characters; user-defined pieces are found, as the library finds them. Counts are those of the library that the file is for.
    A part that is not understood (a unigram model, for example) is an error, never a guess.

    Loading takes about a second for 100,000 tokens, and some tens of megabytes. The same file again is found at once.

    Args:
        path: The file.
        pattern: For a `.tiktoken` file, which does not say how a text is cut: "cl100k_base", "o200k_base", "llama3", "llama4", "qwen2",
            "tekken", "deepseek_v3" or "gpt2". The `tokenizer.model` of Llama 3 and 4 is such a file.

    Raises:
        TokenizerError: The file cannot be read, is damaged, or is of a kind that is not understood; the message says what.

    Examples:
        Llama 3, counted exactly::

            llama = memspan.tokenizers.load("tokenizer.json")
            memspan.models.register(replace(memspan.models["llama-3.3-70b"], encoding=llama.name, factor=1.0))
    """
    from pathlib import Path  # noqa: PLC0415  programs that load none do not pay for it

    return Tokenizer(_core.load_tokenizer(Path(path), pattern))


load = guarded(load)
