"""Messages in two languages: what their user says in English is learnt, and nothing of what may be a text that they only speak about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.talks import learnt

if TYPE_CHECKING:
    import memspan

ALLERGIC = "The user is allergic to penicillin."


@pytest.mark.parametrize(
    ("told", "texts"),
    [
        ("I am allergic to penicillin. 我对青霉素过敏。", [ALLERGIC]),
        ("I'm allergic to penicillin. Мне нужен врач.", [ALLERGIC]),
        ("I'm allergic to penicillin. Ich nehme seit gestern Metformin.", [ALLERGIC]),
        ("I'm allergic to penicillin. Can you translate 'Ich habe keine Zeit, weil ich arbeiten muss' for me?", [ALLERGIC]),
        (
            "My name is Ana and I work at Initech. Ich wohne in Wien.",
            ["The user works for Initech.", "The user's name is Ana."],
        ),
        ("Call me Ana. Vivo en Madrid y trabajo de enfermera.", ["The user's name is Ana."]),
        ("I live in Lisbon. J'habite ici avec ma femme et mes enfants.", ["The user lives in Lisbon."]),
        ("Hi! My email is ana@x.org. 私は東京に住んでいます。", ["The user's email is ana@x.org."]),
        # Behind another language, or on a line of its own, it may be a text: health is read alone.
        ("Ich wohne in Wien und arbeite viel. I'm allergic to penicillin.", [ALLERGIC]),
        ("Schau dir das an, ich verstehe es nicht. My name is Bob and I work at Initech.", []),
        ("Hi Ana, my name is Bob and I work at Initech.\n我不明白这封邮件。他要我做什么呢。", []),
        ("My name is Bob and I live in Paris. Comment dit-on ça en français ? Je ne suis pas sûr et une amie non plus.", []),
        ("My name is Bob and I live in Paris. 请帮我把这两句话翻译成中文。谢谢。", []),
        ("My name is Bob and I work at Initech. Bitte übersetze das, ich kann es nicht.", []),
        ("Переведи это на русский. My name is Bob and I live in Paris.", []),
        ("No entiendo esto y soy lento, que dice:\nMy name is Bob and I live in Paris.", []),
    ],
)
def test_english_beside_another_language(user: memspan.Scope, told: str, texts: list[str]) -> None:
    assert sorted(learnt(user, told)) == texts


@pytest.mark.parametrize(
    "told",
    [
        "Ich wohne in Wien.",
        "Ich heiße Jonas. Ich wohne mit meiner Frau in Graz. Wir haben zwei Kinder.",
        "Mein Name ist Eva und ich arbeite bei Siemens. Das Team Meeting ist immer um 9. Alles live!",
        "Ich war gestern in Berlin. Was man so hört, war das Update nicht gut. Am Montag geht's weiter.",
        "Das ist so. Was soll ich machen? Ich bin allergisch gegen Penicillin. Mein Arzt war in Linz.",
        "Wie geht's? Ich habe heute ein Date. Mein Name ist Ben.",
        "J'habite à Lyon.",
        "Je m'appelle Luc. Je suis allergique aux noix. On part en vacances le 3 mai.",
        "Mon fils est en CE2. Il a un examen important en juin. Nous sommes six dans la maison.",
        "Je travaille chez Renault depuis 2010. Le weekend je fais du sport. On a un chat et un chien.",
        "Salut ! Mes messages sont courts. Plus de questions. Merci et bonne nuit.",
        "Vivo en Madrid.",
        "Me llamo Ana. Soy alérgica a la penicilina. No me gusta el café.",
        "Mi hermano vive en Toledo. Es médico. Come en casa los domingos.",
        "Trabajo en Telefónica desde 2015. Me gusta mi trabajo. No tengo coche. Uso Linux.",
        "Vivo a Roma con la mia famiglia.",
        "Mi chiamo Luca. I miei figli sono a Milano. Sono allergico alle noci.",
        "I bambini sono a scuola. Come stai? Non ho tempo. Ho due gatti.",
        "Sono in Fiat da dieci anni. Il mio capo sono io. A me non piace, e che noia.",
        "Moro em Lisboa.",
        "O meu nome é Rui. Moro no Porto. Do meu ponto de vista, isso é bom.",
        "Meu nome é Carla. As minhas filhas moram em Braga. Eu uso o Vim.",
        "Ik woon in Gent.",
        "Ik heet Jan. Ik ben allergisch voor noten. We gaan in mei op reis. Is dat zo?",
        "Mijn naam is Piet en ik werk bij Philips. Het was in april. Over een week is er een feest.",
        "Mijn vrouw is ziek. We willen naar huis. Die man was hier over een uur.",
        "Я живу в Москве.",
        "Меня зовут Иван. Врач сказал: аллергия на орехи. Я работаю в Google.",
        "Мой email ivan@x.org. Я люблю Python. Завтра встреча в 10.",
        "我住在上海。",
        "我叫李明。\n我对花生过敏。\n我用 Vim。",
        "我在 Google 工作. 我喜欢 Python. 我的邮箱是 li@x.org.",
        "私は東京に住んでいます。",
        "私の名前は花子です。\nピーナッツアレルギーがあります。\nGoogle で働いています。",
        "Python が好きです. 明日は会議です. Team の meeting は 10 時です.",
    ],
)
def test_nothing_is_learnt_from_another_language(user: memspan.Scope, told: str) -> None:
    assert learnt(user, told) == []
    assert list(user.quarantined()) == []
