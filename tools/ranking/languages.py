#!/usr/bin/env python3
"""Questions in other languages than English: is what answers them found?

    python tools/ranking/languages.py

Of each language twelve texts and a question about each, written for this script. The texts of one language stand in one scope, as facts
and as messages of one session, beside twelve that share words with the questions and a hundred English ones. Printed: how often the right
text is the first hit, and among the first three.
"""

# ruff: noqa: RUF001  Cyrillic letters look like Latin ones

from __future__ import annotations

import random
import tempfile

from newest import OTHER_TEXTS

import memspan

ASKED: dict[str, tuple[tuple[str, str], ...]] = {
    "German": (
        ("Meine Schwester Jana wohnt seit März in Rostock.", "Wo wohnt meine Schwester?"),
        ("Der Zahnarzttermin ist am Donnerstag um halb neun.", "Wann ist mein Zahnarzttermin?"),
        ("Ich vertrage keine Haselnüsse.", "Welche Nüsse vertrage ich nicht?"),
        ("Unser Kater heißt Moritz und ist elf Jahre alt.", "Wie heißt unser Kater?"),
        ("Das Auto steht in der Tiefgarage auf Platz 214.", "Auf welchem Platz steht das Auto?"),
        ("Für die Küche haben wir Fliesen in Dunkelgrün bestellt.", "Welche Farbe haben die Fliesen für die Küche?"),
        ("Mein Chef heißt Herr Wieland.", "Wie heißt mein Chef?"),
        ("Im Sommer fahren wir mit dem Zug nach Ligurien.", "Wohin fahren wir im Sommer?"),
        ("Ich lerne seit zwei Jahren Cello.", "Welches Instrument lerne ich?"),
        ("Die Miete kostet 940 Euro im Monat.", "Wie viel kostet die Miete?"),
        ("Am Wochenende habe ich einen Apfelkuchen gebacken.", "Welchen Kuchen habe ich gebacken?"),
        ("Mein Sohn spielt Handball im Verein.", "Welchen Sport macht mein Sohn?"),
    ),
    "French": (
        ("Ma soeur Lucie habite à Nantes depuis le mois de mars.", "Où habite ma soeur ?"),
        ("Le rendez-vous chez le dentiste est jeudi à huit heures.", "Quand est mon rendez-vous chez le dentiste ?"),
        ("Je ne supporte pas les noisettes.", "Quelles noix je ne supporte pas ?"),
        ("Notre chat s'appelle Gaspard et il a onze ans.", "Comment s'appelle notre chat ?"),
        ("La voiture est garée au parking souterrain, place 214.", "À quelle place est garée la voiture ?"),
        ("Nous avons commandé du carrelage vert foncé pour la cuisine.", "De quelle couleur est le carrelage de la cuisine ?"),
        ("Mon chef s'appelle monsieur Delorme.", "Comment s'appelle mon chef ?"),
        ("Cet été nous partons en train en Ligurie.", "Où partons-nous cet été ?"),
        ("J'apprends le violoncelle depuis deux ans.", "Quel instrument est-ce que j'apprends ?"),
        ("Le loyer coûte 940 euros par mois.", "Combien coûte le loyer ?"),
        ("Ce week-end j'ai fait une tarte aux pommes.", "Quelle tarte ai-je faite ?"),
        ("Mon fils joue au handball dans un club.", "Quel sport pratique mon fils ?"),
    ),
    "Spanish": (
        ("Mi hermana Lucía vive en Gijón desde marzo.", "¿Dónde vive mi hermana?"),
        ("La cita con el dentista es el jueves a las ocho y media.", "¿Cuándo es mi cita con el dentista?"),
        ("No tolero las avellanas.", "¿Qué frutos secos no tolero?"),
        ("Nuestro gato se llama Bartolo y tiene once años.", "¿Cómo se llama nuestro gato?"),
        ("El coche está en el garaje, en la plaza 214.", "¿En qué plaza está el coche?"),
        ("Hemos pedido azulejos verde oscuro para la cocina.", "¿De qué color son los azulejos de la cocina?"),
        ("Mi jefe se llama señor Quiroga.", "¿Cómo se llama mi jefe?"),
        ("En verano vamos en tren a Liguria.", "¿Adónde vamos en verano?"),
        ("Estudio violonchelo desde hace dos años.", "¿Qué instrumento estudio?"),
        ("El alquiler cuesta 940 euros al mes.", "¿Cuánto cuesta el alquiler?"),
        ("El fin de semana hice una tarta de manzana.", "¿Qué tarta hice?"),
        ("Mi hijo juega al balonmano en un club.", "¿A qué juega mi hijo?"),
    ),
    "Russian": (
        ("Моя сестра Лена живёт в Твери с марта.", "Где живёт моя сестра?"),
        ("Приём у стоматолога в четверг в половине девятого.", "Когда приём у стоматолога?"),
        ("Я не переношу фундук.", "Какие орехи я не переношу?"),
        ("Нашего кота зовут Барсик, ему одиннадцать лет.", "Как зовут нашего кота?"),
        ("Машина стоит в гараже на месте 214.", "На каком месте стоит машина?"),
        ("Для кухни мы заказали тёмно-зелёную плитку.", "Какого цвета плитка для кухни?"),
        ("Моего начальника зовут Павел Игоревич.", "Как зовут моего начальника?"),
        ("Летом мы едем на поезде в Лигурию.", "Куда мы едем летом?"),
        ("Я два года учусь играть на виолончели.", "На чём я учусь играть?"),
        ("Аренда стоит 940 евро в месяц.", "Сколько стоит аренда?"),
        ("На выходных я испекла яблочный пирог.", "Какой пирог я испекла?"),
        ("Мой сын играет в гандбол в клубе.", "Во что играет мой сын?"),
    ),
    "Japanese": (
        ("妹のゆかりは三月から仙台に住んでいます。", "妹はどこに住んでいますか?"),
        ("歯医者の予約は木曜日の八時半です。", "歯医者の予約はいつですか?"),
        ("ヘーゼルナッツは体に合いません。", "体に合わないナッツは何ですか?"),
        ("うちの猫の名前は小太郎で、十一歳です。", "うちの猫の名前は何ですか?"),
        ("車は地下駐車場の214番にあります。", "車は駐車場の何番にありますか?"),
        ("台所のタイルは深緑を注文しました。", "台所のタイルは何色ですか?"),
        ("上司は和田さんです。", "上司は誰ですか?"),
        ("夏は電車でリグーリアへ行きます。", "夏はどこへ行きますか?"),
        ("二年前からチェロを習っています。", "習っている楽器は何ですか?"),
        ("家賃は月に九万四千円です。", "家賃はいくらですか?"),
        ("週末にりんごのケーキを焼きました。", "週末に何のケーキを焼きましたか?"),
        ("息子はクラブでハンドボールをしています。", "息子は何のスポーツをしていますか?"),
    ),
}  # fmt: skip
BESIDE: dict[str, tuple[str, ...]] = {
    "German": (
        "Meine Nachbarin hat auch eine Schwester, sie wohnt allein.",
        "Der Zahnarzt hat gesagt, ich soll öfter Zahnseide nehmen.",
        "Nüsse sind gesund, sagt meine Mutter.",
        "Der Kater der Nachbarn heißt Felix.",
        "Das Auto muss im Mai zum TÜV.",
        "Die Küche wird im Herbst gestrichen.",
        "Mein Chef ist diese Woche krank.",
        "Im Sommer ist es im Zug immer zu warm.",
        "Ich lerne abends oft in der Bibliothek.",
        "Was kostet heute schon wenig Miete?",
        "Kuchen gibt es bei uns jeden Sonntag.",
        "Mein Sohn macht Sport, wenn man ihn lässt.",
    ),
    "French": (
        "La voisine a aussi une soeur, elle habite seule.",
        "Le dentiste m'a dit de passer plus souvent le fil.",
        "Les noix sont bonnes pour la santé, dit ma mère.",
        "Le chat des voisins s'appelle Félix.",
        "La voiture doit passer au contrôle en mai.",
        "La cuisine sera repeinte à l'automne.",
        "Mon chef est malade cette semaine.",
        "En été il fait toujours trop chaud dans le train.",
        "J'apprends souvent le soir à la bibliothèque.",
        "Aujourd'hui un loyer coûte toujours trop cher.",
        "Une tarte, il y en a chez nous chaque dimanche.",
        "Mon fils fait du sport quand on le laisse.",
    ),
    "Spanish": (
        "La vecina también tiene una hermana que vive sola.",
        "El dentista me dijo que usara más el hilo dental.",
        "Los frutos secos son sanos, dice mi madre.",
        "El gato de los vecinos se llama Félix.",
        "El coche tiene que pasar la inspección en mayo.",
        "La cocina se pintará en otoño.",
        "Mi jefe está enfermo esta semana.",
        "En verano siempre hace demasiado calor en el tren.",
        "Estudio muchas tardes en la biblioteca.",
        "Hoy cualquier alquiler cuesta demasiado.",
        "Una tarta hay en casa todos los domingos.",
        "Mi hijo hace deporte cuando le dejan.",
    ),
    "Russian": (
        "У соседки тоже есть сестра, она живёт одна.",
        "Стоматолог сказал чаще пользоваться нитью.",
        "Орехи полезны, говорит мама.",
        "Кота соседей зовут Феликс.",
        "Машина в мае должна пройти осмотр.",
        "Кухню покрасят осенью.",
        "Мой начальник на этой неделе болеет.",
        "Летом в поезде всегда слишком жарко.",
        "Я часто учусь по вечерам в библиотеке.",
        "Сегодня любая аренда стоит слишком дорого.",
        "Пирог у нас бывает каждое воскресенье.",
        "Мой сын занимается спортом, когда ему дают.",
    ),
    "Japanese": (
        "隣の人にも妹がいて、一人で住んでいます。",
        "歯医者に糸ようじを使うように言われました。",
        "ナッツは体にいいと母が言います。",
        "隣の猫の名前はフェリックスです。",
        "車は五月に車検があります。",
        "台所は秋に塗り直します。",
        "上司は今週病気です。",
        "夏の電車はいつも暑すぎます。",
        "夜はよく図書館で習ったことを復習します。",
        "今は家賃がどこも高いです。",
        "ケーキは毎週日曜に食べます。",
        "息子は時間があるとスポーツをします。",
    ),
}  # fmt: skip
"""Texts that share words with the questions and answer none."""
FIRST = (1, 3)


def main() -> None:
    chance = random.Random(0)  # noqa: S311
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/a.memspan", durability="relaxed") as engine:
        for language, asked in ASKED.items():
            user = engine.user(language)
            texts = [chance.choice(OTHER_TEXTS).format(chance.randrange(100, 9999)) for _ in range(100)]
            texts += [*(text for text, _ in asked), *BESIDE[language]]
            chance.shuffle(texts)
            user.remember_many(texts)
            session = user.session("s", model="gpt-4o")
            session.add_many([{"role": "user", "content": text} for text in texts])
            found: dict[str, list[list[str]]] = {"facts": [], "messages": []}
            for _, question in asked:
                found["facts"].append([hit.text for hit in user.recall(question, limit=max(FIRST))])
                found["messages"].append([hit.text for hit in user.search_transcripts(question, limit=max(FIRST))])
            for of, answers in found.items():
                counts = [sum(text in hits[:k] for (text, _), hits in zip(asked, answers, strict=True)) for k in FIRST]
                print(f"{language}, {of}: first {counts[0]}, among the first three {counts[1]}, of {len(asked)}", flush=True)


if __name__ == "__main__":
    main()
