"""Model providers: a prompt sent through the official SDK, whole or as a stream. One small file each.

| class | needs | sends |
|---|---|---|
| `OpenAI` | `pip install 'memspan[openai]'` | chat completions |
| `OpenAIResponses` | the same | responses, with encrypted reasoning |
| `OpenAICompatible` | the same | chat completions to vLLM, SGLang, Ollama, llama.cpp, Mistral, DeepSeek, Groq, OpenRouter, by their rules |
| `Anthropic` | `pip install 'memspan[anthropic]'` | messages, with breakpoints |
| `Bedrock` | `pip install 'memspan[bedrock]'` | Converse, for every model there |
| `Gemini` | `pip install 'memspan[gemini]'` | `generateContent` |

Each has `complete`, `stream`, `count` and their awaitable twins, takes a client of yours or makes one, and hands back what the SDK
returns: `session.add_response` and `session.reply(prompt).feed` take it. Retries are the SDK's. The meaning of a refusal is
elsewhere (`memspan.Refusal`, `Session.recover`), and so is the loop of a turn (`memspan.Assistant`).
"""

from memspan.providers.anthropic import Anthropic
from memspan.providers.bedrock import Bedrock
from memspan.providers.gemini import Gemini
from memspan.providers.openai import OpenAI, OpenAICompatible, OpenAIResponses
from memspan.providers.provider import Provider, provider_for

__all__ = ["Anthropic", "Bedrock", "Gemini", "OpenAI", "OpenAICompatible", "OpenAIResponses", "Provider", "provider_for"]
