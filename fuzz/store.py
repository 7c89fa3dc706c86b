"""Writes the small store whose records the fuzzer replaces, as an export: `python fuzz/store.py fuzz/corpus/export/store.jsonl`.

To be run again where the format of the store changes. The file differs from run to run, since a store draws its own keys.
"""

import sys
import tempfile
from pathlib import Path

import memspan

CALL = {"id": "call-1", "type": "function", "function": {"name": "port_of", "arguments": '{"service":"payments-api"}'}}


def fill(engine: memspan.Engine) -> None:
    """Leaves a record of almost every kind."""
    user = engine.user("u-1")
    user.remember("Prefers Go for scripting", kind="preference", slot="language")
    user.remember("Prefers Rust for scripting", kind="preference", slot="language", metadata={"from": "chat"})
    lead = user.remember("Anna leads payments-api", ttl_seconds=10**8).memory
    user.relate("Anna", "leads", "payments-api", memory=lead)
    user.revise(lead.id, "Anna leads payments-api and billing-api")
    user.forget(user.remember("The old pager is 555-0100").memory.id, reason="asked to")
    user.collection("notes").add("ports", "payments-api answers on port 8443.\n\nbilling-api answers on port 8444.")

    session = user.session("s-1", model="claude-sonnet-4-5", system="You are terse.", metadata={"channel": "web"})
    session.add({"role": "user", "content": "Which port does payments-api use?"})
    session.add_response({"role": "assistant", "content": None, "tool_calls": [CALL]}, prompt=session.assemble())
    session.add({"role": "tool", "tool_call_id": "call-1", "content": "8443, " + "and nothing else answers there. " * 40})
    session.add_response({"role": "assistant", "content": "It uses port 8443."}, prompt=session.assemble())
    session.add({"role": "user", "content": "I moved to Lisbon in May. I am allergic to nuts."})
    session.add_response({"role": "assistant", "content": "Noted."}, prompt=session.assemble())
    session.note("The user writes from Lisbon.")
    session.task("review").set("plan", "read the diff")
    user.learn(session)
    session.compact(keep_exchanges=1)
    session.fork("s-2")
    user.recall("which port does payments-api use?")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "store") as engine:
        fill(engine)
        engine.export(sys.argv[1])
