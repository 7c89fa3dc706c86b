"""Contents and names whose XXH3 is the same (made by hand: its long form has such pairs for every known seed) are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import memspan

if TYPE_CHECKING:
    from pathlib import Path


def spotted(filling: str, length: int, spots: dict[int, str]) -> str:
    """A text of one character, with others at some places."""
    text = list(filling * length)
    for at, character in spots.items():
        text[at] = character
    return "".join(text)


def test_the_second_version_of_a_document_with_the_hash_of_the_first_is_stored(tmp_path: Path) -> None:
    # It was called a duplicate, and never stored.
    spots = {56: " ", 57: " ", 58: " ", 59: " ", 62: "1", 696: "d", 697: "8", 698: "N", 699: "J", 702: "9"}
    one, two = spotted(".", 1100, spots), spotted(".", 1100, spots | {62: "9", 702: "1"})
    with memspan.open(tmp_path / "s") as engine:
        documents = engine.user("alice").collection("policies")
        documents.add("limits.txt", one)
        assert documents.add("limits.txt", two).action == "replaced"
        assert documents.get("limits.txt").text == two
        assert documents.add("limits.txt", two).action == "duplicate"


def test_the_second_of_two_images_with_one_hash_is_read_back(tmp_path: Path) -> None:
    # It was read back as the first, and check() called that damage.
    spots = {2: "0", 3: "1", 128: "k", 129: "k", 130: "3"}
    images = [spotted("A", 4000, spots | {132: "a"}), spotted("A", 4000, spots | {4: "a"})]
    with memspan.open(tmp_path / "s") as engine:
        session = engine.user("alice").session("s", model="gpt-4o")
        for image in images:
            url = {"url": f"data:image/png;base64,{image}"}
            session.add({"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": url}]})
        assert [message.given["content"][1]["image_url"]["url"].split(",")[1] for message in session.messages] == images
        assert engine.check().sound


def test_a_session_id_with_the_hash_of_another_is_another_session(tmp_path: Path) -> None:
    # It opened the other one's conversation.
    same = {0: "A", 1: "A", 2: "0", 3: "1", 128: "k", 129: "k", 130: "3", 131: "A"}
    one, two = spotted("s", 400, same | {4: "A", 132: "a"}), spotted("s", 400, same | {4: "a", 132: "A"})
    with memspan.open(tmp_path / "s") as engine:
        user = engine.user("alice")
        user.session(one, model="gpt-4o").add({"role": "user", "content": "said in the first"})
        assert not list(user.session(two, model="gpt-4o").messages)
        assert [message.text for message in user.session(one).messages] == ["said in the first"]
