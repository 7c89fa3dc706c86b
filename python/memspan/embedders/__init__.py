"""Embedders of other vendors, for `memspan.open(embedder=...)`: one small file each, on the vendor's own SDK.

| class | needs | where it runs |
|---|---|---|
| `FastEmbed` | `pip install 'memspan[fastembed]'` | here, with ONNX; the model is downloaded once |
| `Ollama` | an Ollama server, no package | here, or wherever the server is |
| `OpenAI` | `pip install 'memspan[openai]'` | a service |
| `Voyage` | `pip install 'memspan[voyage]'` | a service |
| `Cohere` | `pip install 'memspan[cohere]'` | a service |

All of them cut what they are given into requests that the vendor takes, try again where trying again helps, and end within a time limit
(`service.py`); a vendor that tells questions from documents is told which is which. The SDK is imported when an embedder is made, or not
at all where a `client` is passed in. Two things live elsewhere: the handling of an embedder's failure (`memspan.open`), and the built-in
embedding, which needs none of this (`memspan.embedding.BuiltIn`).
"""

from memspan.embedders.cohere import Cohere
from memspan.embedders.fastembed import FastEmbed
from memspan.embedders.ollama import Ollama
from memspan.embedders.openai import OpenAI
from memspan.embedders.service import Retry
from memspan.embedders.voyage import Voyage

__all__ = ["Cohere", "FastEmbed", "Ollama", "OpenAI", "Retry", "Voyage"]
