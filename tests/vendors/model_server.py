"""A real model server that needs no download: llama.cpp's own, from the wheel `xllamacpp`, with a model of random weights made here.

    python tests/vendors/model_server.py FOLDER

prints its address, and serves until its input ends. The model knows bytes and letters, has two layers, and says noise at once: what is
tested with it is the server. Needs `pip install xllamacpp gguf`.
"""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

CALL_TOKEN = 3
"""What begins a call, as one token: a bias on it is enough to make noise call a tool."""
SLOTS = 4
SLOT_TOKENS = 8_192
_WIDTH, _LAYERS, _INNER, _HEADS = 64, 2, 128, 4
_TEMPLATE = """\
{%- if tools %}<|im_start|>system
<tools>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</tools>
Calls stand in <tool_call></tool_call>.<|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>{% endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""Hermes' form, from which the server makes the grammar of calls."""
_ADDRESS = "address "


@contextmanager
def serving_a_model(folder: Path) -> Iterator[str]:
    """The address of a server in a process of its own, while the block lasts."""
    with subprocess.Popen(
        [sys.executable, __file__, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield next(line for line in process.stdout if line.startswith(_ADDRESS)).removeprefix(_ADDRESS).strip()
        finally:
            process.stdin.close()
            process.wait(20)


def make_model(path: Path) -> None:
    """Writes a model of random weights, always the same, with a vocabulary of bytes and letters."""
    import gguf  # type: ignore[import-not-found,unused-ignore]
    import numpy as np

    random = np.random.default_rng(0)
    writer: Any = gguf.GGUFWriter(str(path), "llama")
    tokens, types = _vocabulary(gguf.TokenType)
    for name, value in {
        "context_length": SLOT_TOKENS, "embedding_length": _WIDTH, "block_count": _LAYERS, "feed_forward_length": _INNER,
        "head_count": _HEADS,
        "head_count_kv": _HEADS, "layer_norm_rms_eps": 1e-5, "rope_dimension_count": _WIDTH // _HEADS, "vocab_size": len(tokens),
        "tokenizer_model": "llama", "token_list": tokens, "token_scores": [0.0] * len(tokens), "token_types": types,
        "unk_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "add_bos_token": True, "chat_template": _TEMPLATE,
    }.items():  # fmt: skip
        getattr(writer, f"add_{name}")(value)
    for name, shape in _shapes(len(tokens)).items():
        ones = len(shape) == 1
        writer.add_tensor(
            f"{name}.weight", np.ones(shape, np.float32) if ones else (random.standard_normal(shape) * 0.3).astype(np.float32)
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _vocabulary(kinds: Any) -> tuple[list[bytes], list[Any]]:
    letters = ["\u2581", *(chr(code) for code in range(33, 127))]
    tokens = [
        b"<unk>",
        b"<s>",
        b"</s>",
        b"<tool_call>\n",
        *(f"<0x{byte:02X}>".encode() for byte in range(256)),
        *(one.encode() for one in letters),
    ]
    return tokens, [kinds.UNKNOWN, *[kinds.CONTROL] * 2, kinds.USER_DEFINED, *[kinds.BYTE] * 256, *[kinds.NORMAL] * len(letters)]


def _shapes(tokens: int) -> dict[str, tuple[int, ...]]:
    square, norm = (_WIDTH, _WIDTH), (_WIDTH,)
    layer = {"attn_q": square, "attn_k": square, "attn_v": square, "attn_output": square, "attn_norm": norm, "ffn_norm": norm,
             "ffn_gate": (_INNER, _WIDTH), "ffn_up": (_INNER, _WIDTH), "ffn_down": (_WIDTH, _INNER)}  # fmt: skip
    layers = {f"blk.{number}.{name}": shape for number in range(_LAYERS) for name, shape in layer.items()}
    return {"token_embd": (tokens, _WIDTH), "output": (tokens, _WIDTH), "output_norm": norm, **layers}


def main(folder: Path) -> None:
    """Serves until the input ends."""
    import xllamacpp  # type: ignore[import-not-found,unused-ignore]

    model = folder / "tiny.gguf"
    make_model(model)
    about: Any = xllamacpp.CommonParams()
    about.model.path, about.n_ctx, about.n_parallel, about.port, about.warmup = str(model), SLOTS * SLOT_TOKENS, SLOTS, 0, False
    about.cpuparams.n_threads = 1
    server: Any = xllamacpp.Server(about)
    print(f"\n{_ADDRESS}{server.listening_address}", flush=True)  # noqa: T201  what the parent reads
    sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
