"""How well a collection of code answers: the first line of a docstring asks for its function, which is stored without the docstring.

    python benches/collection_quality.py [functions] [questions]

Over Python's own standard library, so that nothing need be downloaded. Prints nDCG@10 of words alone (BM25), of vectors alone, and of
fusions by the weight of the words; the candidates are those of one search, scored anew for each weight from what `explain()` says.
"""

from __future__ import annotations

import ast
import math
import sys
import sysconfig
import tempfile
from pathlib import Path

import memspan

WEIGHTS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.0)
LEAST_WORDS = 4


def functions(most: int) -> list[tuple[str, str, str]]:
    """(id, question, source without the docstring) of functions, spread over the whole library."""
    found = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" in path.parts or "test" in path.parts:
            continue
        try:
            text = path.read_text("utf-8")
            tree = ast.parse(text)
        except (SyntaxError, UnicodeDecodeError):
            continue
        lines = text.splitlines()
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef) or len(node.body) < 2:  # a docstring and a body
                continue
            doc = ast.get_docstring(node)
            first = node.body[0]
            if doc and len(doc.splitlines()[0].split()) >= LEAST_WORDS:
                source = lines[node.lineno - 1 : first.lineno - 1] + lines[first.end_lineno or first.lineno : node.end_lineno]
                found.append((f"{path.name}:{node.lineno}:{node.name}", doc.splitlines()[0], "\n".join(source)))
    step = max(1, len(found) // most)
    return found[::step][:most]


def main() -> None:
    most, asked = (int(one) for one in (sys.argv[1:] + ["3000", "500"][len(sys.argv) - 1 :])[:2])
    corpus = functions(most)
    gain = dict.fromkeys(WEIGHTS, 0.0)
    questions = corpus[:: max(1, len(corpus) // asked)][:asked]
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "store", durability="relaxed") as engine:
        docs = engine.user("u").collection("stdlib")
        docs.add_many({"id": name, "text": source, "format": "code"} for name, _, source in corpus)
        for name, question, _ in questions:
            hits = [(hit.document.id, hit.explain()) for hit in docs.search(question, 60)]
            for weight in WEIGHTS:
                best: dict[str, float] = {}
                for document, why in hits:
                    lexical = weight if why.lexical_weight == 0.5 else max(weight, why.lexical_weight)  # no identifier held
                    score = lexical * why.lexical_normalised + (1 - lexical) * why.cosine_normalised
                    best[document] = max(score, best.get(document, -1.0))
                ranked = sorted(best, key=lambda one: (-best[one], one))[:10]
                gain[weight] += 1 / math.log2(ranked.index(name) + 2) if name in ranked else 0.0
    print(f"{len(corpus)} functions, {len(questions)} questions, nDCG@10 by the weight of the words")
    for weight in WEIGHTS:
        print(f"{weight:.1f}  {gain[weight] / len(questions):.4f}")


if __name__ == "__main__":
    main()
