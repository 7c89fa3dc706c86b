"""Whether a text says no more than its source: each of its words, numbers and denials is there. Of any language.

English words count without their endings. Of other languages that put spaces between words, a word may end otherwise than in the source,
but for names. Of those that put none (Chinese, Japanese, Thai, ...) each two neighbouring letters must be neighbours in the source.
"""

from __future__ import annotations

import re

_WORD = re.compile(r"(?:(?<![\w.,/:-])[-+\u2212$\u20ac\u00a3\u00a5.]+(?=\d))?\w+(?:[-./:@]\w+)*%?")
_CONTRACTED = re.compile("(?:n['\u2019]t|['\u2019](?:s|m|re|ve|ll|d))\\b", re.IGNORECASE)
"""What an apostrophe adds to an English word. Denials are compared for themselves."""
_LIGHT = frozenset(
    re.split(
        " ",
        "the a an user user's users is are was were be has have had of to in on at for with and or that this it they their him he she "
        "his her prefers prefer likes like uses use lives live works work named name called wants want dislikes decided does do as by "
        "from now",
    )
)
_LIGHT_ELSEWHERE = frozenset(
    re.split(
        " ",
        # Whom a sentence is about, as a model says it, articles, and forms of "to be" and "to have" beside the first person's.
        "der die das den dem des ein eine einen einem einer nutzer nutzerin benutzer benutzerin anwender ist hat und in "
        "sich sein seine ihr ihre "
        "el la los las un una usuario usuaria es est\u00e1 tiene y de se su sus "
        "le les l utilisateur utilisatrice a et du des sa son ses "
        "o os as um uma utilizador utilizadora usu\u00e1rio usu\u00e1ria \u00e9 tem e do da seu sua "
        "il lo gli utente \u00e8 ha di "
        "het een gebruiker gebruikster heeft en zijn haar "
        "\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b\u044c "
        "\u043f\u043e\u043b\u044c\u0437\u043e\u0432\u0430\u0442\u0435\u043b\u044f \u0443 \u0438 \u0432 "
        "\u0627\u0644\u0645\u0633\u062a\u062e\u062f\u0645 \uc0ac\uc6a9\uc790\ub294 \uc0ac\uc6a9\uc790\uc758",
    )
)
_DENIALS = frozenset(
    re.split(
        " ",
        "not no never none nothing nobody neither nor cannot without "
        "nicht kein keine keinen keinem keiner keines nie niemals ohne nunca jam\u00e1s ning\u00fan ninguna sin "
        "ne pas jamais sans aucun aucune n\u00e3o nenhum nenhuma sem non mai senza niet geen nooit "
        "\u043d\u0435 \u043d\u0435\u0442 \u043d\u0438\u043a\u043e\u0433\u0434\u0430 \u0431\u0435\u0437 "
        "\u0644\u0627 \u0644\u064a\u0633 \u0644\u0645",
    )
)
_LIKE_DENIALS = frozenset(
    re.split(
        " ",
        "dislike dislikes disliked hate hates hated avoid avoids avoided stop stops stopped quit quits refuse refuses refused "
        "former formerly unable longer",
    )
)
_UNSPACED_DENIALS = re.compile("[\u4e0d\u6ca1\u6c92\u672a]|\u306a\u3044|\u307e\u305b\u3093|\u306a\u304b\u3063|\u0e44\u0e21\u0e48")
_DENYING_ENDINGS = ("n't", "n\u2019t")
_ADDS_NOTHING = frozenset(re.split(" ", "i my me we our also really very just now please actually currently still too hi hey hello so"))
"""Whom a user speaks of, and words that make no sentence say more."""
_SCRIPTS = (
    "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{_SCRIPTS}]+")
_USERS = re.compile(
    "\u30e6\u30fc\u30b6\u30fc(?:\u3055\u3093)?|\u5229\u7528\u8005|\u7528\u6237|\u7528\u6236|\u4f7f\u7528\u8005|"
    "\u0e1c\u0e39\u0e49\u0e43\u0e0a\u0e49"
)
_SHORT = 3
_MOST_ENDING = 2


def borne_out(text: str, source: str, *, foreign: bool = False) -> bool:
    """Whether a source has every word of a text, but for those that any sentence has. Endings do not count, denials do."""
    if not _unspaced_borne_out(text, source):
        return False
    if denies(text) and not denies(source):
        return False
    said, have = _words(_UNSPACED.sub(" ", text)), _words(_UNSPACED.sub(" ", source))
    stems = {_stem(word.lower()) for word in have}
    plain = [word.lower() for at, word in enumerate(have) if at == 0 or word == word.lower()] if foreign else []

    def has(word: str) -> bool:
        lower = word.lower()
        if lower in _LIGHT or _stem(lower) in stems or lower in _DENIALS:
            return True
        return foreign and (lower in _LIGHT_ELSEWHERE or (word == lower and any(_ends_otherwise(word, other) for other in plain)))

    return all(has(word) for word in said)


def says_more(text: str, known: str) -> bool:
    """Whether a text has all that another says, and more: a further word, or a number's sign."""
    mine, others = (_contents(one) for one in (text, known))
    return (
        not mine <= others and {_unsigned(word) for word in others} <= {_unsigned(word) for word in mine} and denies(text) >= denies(known)
    )


def _contents(text: str) -> set[str]:
    words = {_stem(word.lower()) for word in _words(_UNSPACED.sub(" ", text)) if word.lower() not in _LIGHT | _ADDS_NOTHING}
    return words | {letters for run in _UNSPACED.findall(text) for letters in _pairs(run)}


def _unsigned(word: str) -> str:
    return word.strip("-+\u2212$\u20ac\u00a3\u00a5.%")


def _words(text: str) -> list[str]:
    return _WORD.findall(_CONTRACTED.sub("", text))


def denies(text: str) -> bool:
    """Whether a text says that something is not so."""
    words = {word.lower() for word in re.findall(r"[\w'\u2019]+", text)}
    return bool(_UNSPACED_DENIALS.search(text)) or any(
        word in _DENIALS | _LIKE_DENIALS or word.endswith(_DENYING_ENDINGS) for word in words
    )


def _stem(word: str) -> str:
    if any(letter.isdigit() for letter in word):
        return word
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)].rstrip("e")
    return word.rstrip("e") if len(word) > _SHORT else word


def _ends_otherwise(word: str, other: str) -> bool:
    """Whether two words differ in their last letters alone: "wohnt" and "wohne", "vive" and "vivo"."""
    if any(letter.isdigit() for letter in word) or min(len(word), len(other)) <= _SHORT:
        return False
    same = next((at for at, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return same >= _SHORT and max(len(word), len(other)) - same <= _MOST_ENDING


def _pairs(run: str) -> set[str]:
    return {run[at : at + 2] for at in range(len(run) - 1)} or {run}


def _unspaced_borne_out(text: str, source: str) -> bool:
    have = source.lower()
    runs = [run for part in _USERS.split(text.lower()) for run in _UNSPACED.findall(part)]
    return all(pair in have for run in runs for pair in _pairs(run))


__all__ = ["borne_out", "denies", "says_more"]
