"""Misspelt words of a question to collections are read as what the documents have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import memspan

POSTGRES = "Production runs Postgres 17.1. The Kubernetes upgrade was done by Marek Nowak. Error PAY-5031 locks the ledger."
OTHERS = [
    f"Document {number} about the version of product {number} and release notes. Which version runs where is in table {number}."
    for number in range(8)
]


@pytest.fixture
def docs(user: memspan.Scope) -> memspan.Collection:
    docs = user.collection("docs")
    docs.add("postgres.md", POSTGRES)
    for number, text in enumerate(OTHERS):
        docs.add(f"product-{number}.md", text)
    return docs


@pytest.mark.parametrize(
    ("question", "is_read"),
    [
        ("which postgress version is production on", True),
        ("Which postgrs version runs?", False),  # its stem is there
        ("postgrse version", True),
        ("who did the kubernets upgrade?", False),
        ("who did the kuberentes upgrade?", True),
        ("Kubernettes", True),
        ("what does marek nowakk do?", True),
        ("which pxstgres release?", True),
    ],
)
def test_a_misspelt_word_finds_what_it_means(user: memspan.Scope, docs: memspan.Collection, question: str, is_read: bool) -> None:
    found = docs.search(question)
    assert found[0].document.id == "postgres.md"
    assert user.search(question, sources=("collections",))[0].text == found[0].text
    session = user.session("asks", model="gpt-4o", collections=[docs])
    session.add({"role": "user", "content": question})
    prompt = session.assemble()
    shown = [row for row in prompt.explain() if row.section == "retrieved" and row.included]
    assert shown[0].id.startswith("docs/postgres.md"), shown
    assert any("read it as" in str(row.why) for row in prompt.explain()) == is_read


@pytest.mark.parametrize(
    "question",
    [
        "PAY-5032",
        "PAY-503",
        "postgress-17",
        "pg.postgress",
        "Postgress4",
        "POSTGRESS",
        "postgress_version",
        "which version runs where?",
        "who is the plumber?",
        "where is the kitchen?",
        "release notes of product 3",
        "the xylophonist of Zwolle",
    ],
)
def test_identifiers_and_what_is_near_nothing_stay(user: memspan.Scope, docs: memspan.Collection, question: str) -> None:
    session = user.session("asks", model="gpt-4o", collections=[docs])
    session.add({"role": "user", "content": question})
    assert not any("read it as" in str(row.why) for row in session.assemble().explain())


@pytest.mark.usefixtures("docs")
def test_a_word_of_another_collection_is_not_misspelt(user: memspan.Scope) -> None:
    people = user.collection("people")
    people.add("nowack.md", "Nowack owns the billing dashboard.")
    assert user.search("what does Nowack own?", sources=("collections",))[0].text.startswith("Nowack")
    assert user.search("what does Nowack own?", 1, sources=("collections",)).confidence == people.search("what does Nowack own?").confidence
