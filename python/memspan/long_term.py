"""Long-term memory: what a `Scope` remembers, and how it finds it again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan._copies import of_engine
from memspan._fence import fenced
from memspan._scope.conversations import Conversations
from memspan._scope.learning import Learning
from memspan._scope.remembering import Remembering
from memspan._twins import async_iterable, awaitable
from memspan.collection import Collection
from memspan.new_memory import Kind, Metadata, NewMemory, Source
from memspan.slots import Slots

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

    from memspan.memory_tools import ToolFormat

__all__ = ["Kind", "Metadata", "NewMemory", "Scope", "Slots", "Source"]


@of_engine("take it by its id from the engine there, and pickle memories, which are values")
@fenced
class Scope(Remembering, Learning, Conversations):
    """The memory of one user, or of something that many share. Made by `Engine.user` and `Engine.shared`; costs nothing to make.

    Nothing of a scope is ever seen from another: isolation is by storage key, not by a filter. All methods may be called from any
    thread. Methods that begin with an `a` are awaitable twins of those without it.
    """

    __slots__ = ()

    def collection(self, name: str) -> Collection:
        """A collection of this scope: documents, notes or code that are searched by chunks. Reads and writes nothing.

        Args:
            name: 1 to 1,024 bytes of UTF-8, unique in the scope.

        Examples:
            >>> user.collection("handbook")
            Collection('handbook' of Scope(user 'u-42'))
        """
        return Collection(self._store, self, self._core.collection(name))

    def collections(self) -> Iterator[Collection]:
        """The collections of this scope that were written to, in the order of their first write.

        Examples:
            >>> _ = user.collection("notes").add("a", "Tea at four")
            >>> list(user.collections())
            [Collection('notes' of Scope(user 'u-42'))]
        """
        return map(self.collection, self._core.collections())

    def tools(self, *, format: ToolFormat = "openai", allow: Iterable[str] = ()) -> list[dict[str, Any]]:  # noqa: A002
        """Schemas of tools by which a model remembers, recalls, forgets and lists: `call_tool` does what it asks for.

        Args:
            format: "openai", "openai_responses", "anthropic", "gemini" or "mcp".
            allow: Kinds that it may write and forget besides: "constraint", "profile".

        Examples:
            >>> [tool["function"]["name"] for tool in user.tools()]
            ['remember', 'recall', 'forget', 'list']
        """
        from memspan import memory_tools  # noqa: PLC0415  for programs that let a model write

        return memory_tools.schemas(format, allow)

    def call_tool(self, name: str, arguments: Mapping[str, Any] | str, *, allow: Iterable[str] = ()) -> str:
        """Does what a model asks for by one of `tools`; JSON that it can read. Arguments are checked first; a mistake is its reply.

        The model's memories count as the assistant's word (trust 1), follow the policy, and never take a slot from the user's. The
        model neither writes, replaces nor forgets constraints and the profile without `allow`.

        Args:
            name: Of the tool.
            arguments: As the model wrote them: a mapping, or JSON.
            allow: As of `tools`.

        Examples:
            >>> user.call_tool("remember", {"text": "Prefers tea", "kind": "preference"})
            '{"action": "added", "id": "mem-1", "text": "Prefers tea"}'
            >>> user.call_tool("recall", '{"query": 7}')
            '{"error": "query of recall is a text of 1 to 2,000 characters, and it is not: change it"}'
        """
        from memspan import memory_tools  # noqa: PLC0415  the same

        return memory_tools.call(self, name, arguments, allow)

    def export(self, path: str | os.PathLike[str], *, everything: bool = False) -> int:
        """Writes every current memory to a file of JSON lines, or all that the store has of this scope.

        A line is one object: by default a memory with the fields of `Memory.to_dict`. With `everything` it is a row of the scope, of the
        kind that its `row` says: "scope", "slot", "memory", "relation", "collection", "document", "session", "message", "note", "task",
        "summary", "call", "partial_reply", in this order and that of their writing. `arguments` of a row are those of the call that
        writes it anew: of a message a row of `Session.add_many`, of a memory one of `remember_many`, but that times are text. The page
        docs/import.md has the rows, what is left out (what is forgotten, vectors, prompts), and a script that moves a user.

        Times are ISO 8601 in UTC; bytes are base64 and floats that JSON does not have are "NaN", "Infinity" and "-Infinity", as in the JSON
        mapping of protocol buffers. The file appears whole or not at all, and only its owner can read it: it is written beside its place,
        synced and renamed.

        Cost: a read of each page of 256 memories, 64 messages, and of each document and turn. Memory does not grow with the scope. It is
        not one moment's: what is written or deleted meanwhile may or may not be in it.

        Args:
            path: The file. One that is there is replaced; a symbolic link, a pipe, a socket and a device are refused.
            everything: Also history, sessions, collections and all else that the scope has.

        Returns:
            How many lines it has.

        Raises:
            InvalidInput: The path names no file, or one inside of the store, or what is there is not a regular file, or `everything` is not
                a bool.
            StoreIo: The file cannot be written.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> user.export("u-42.jsonl")
            1
            >>> _ = user.session("s-1", model="gpt-4o").add({"role": "user", "content": "Which port?"})
            >>> user.export("u-42.jsonl", everything=True)
            4
        """
        from memspan._scope.export import export  # noqa: PLC0415  what few calls need is not paid for at import

        return export(self, path, everything=everything)

    acollections = async_iterable(collections)
    acall_tool = awaitable(call_tool, asks=True)
    aexport = awaitable(export)
