#!/usr/bin/env python3
"""Facts that stand side by side, and facts of things without a person: what newest first must leave alone, and what it must not miss.

    python tools/ranking/parallel.py [--only OWN_ASIDE,...] [--show]

Each row has a fact, a change of it, another fact of the same shape that is about somebody or something else, and a question for the first.
A store has 60 texts about other things and, in this order of time,

    parallel    the fact and the other one                 the fact is to be first
    change      the fact and its change                    the change is to be first
    both        the fact, its change, and the other one    the change is to be first

OWN asks of the user and of Anna, THINGS of what has an identifier, or nobody's name. The rules of docs/decisions/0101 were written with
OWN_SEEN and THINGS_SEEN in view. OWN_ASIDE and THINGS_ASIDE were written with them, and only their figures were looked at. --show prints
the rows that miss.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import argparse
import random
import tempfile
from datetime import UTC, datetime, timedelta

from newest import OTHER_TEXTS

import memspan
import memspan.testing

START = datetime(2024, 1, 1, tzinfo=UTC)
# The fact, a change of it, another fact of the same shape, and the question for the first.
# {P}: my, Anna's; {I}: I, Anna; {do}: do, does; {am}: am, is.
Row = tuple[str, str, str, str]

OWN_SEEN: tuple[Row, ...] = (
    (
        "{P} blood group is A positive.",
        "The lab corrected {P} blood group to A negative.",
        "{P} father's blood group is O.",
        "What is {P} blood group?",
    ),
    (
        "{P} passport number is X4471.",
        "{P} new passport number is X9020.",
        "{P} sister's passport number is Y2210.",
        "What is {P} passport number?",
    ),
    (
        "{I} {am} lactose intolerant.",
        "{I} {am} no longer lactose intolerant.",
        "{P} nephew is gluten intolerant.",
        "What {am} {I} intolerant to?",
    ),
    ("{P} ring size is 54.", "{P} ring size went up to 56.", "{P} fiancée has ring size 49.", "What is {P} ring size?"),
    (
        "{I} went to school in Leeds.",
        "{I} changed to a school in York.",
        "{P} cousin went to school in Derby.",
        "Where did {I} go to school?",
    ),
    (
        "{P} hourly rate is 80 euros.",
        "{P} hourly rate was raised to 95 euros.",
        "{P} brother's hourly rate is 60 euros.",
        "What is {P} hourly rate?",
    ),
    (
        "{P} dentist appointment is on Monday.",
        "{P} dentist appointment was moved to Friday.",
        "{P} grandmother's dentist appointment is on Thursday.",
        "When is {P} dentist appointment?",
    ),
    (
        "{P} winter tyres are from Nokian.",
        "{P} winter tyres are from Michelin now.",
        "{P} summer tyres are from Pirelli.",
        "Which winter tyres {do} {I} have?",
    ),
    (
        "{P} upstairs bathroom is painted white.",
        "{P} upstairs bathroom was repainted green.",
        "{P} downstairs bathroom is painted grey.",
        "What colour is {P} upstairs bathroom?",
    ),
    (
        "{P} front door code is 2580.",
        "{P} front door code changed to 1379.",
        "{P} garage door code is 8642.",
        "What is {P} front door code?",
    ),
    (
        "{P} life insurance is with Allianz.",
        "{P} life insurance moved to Zurich.",
        "{P} travel insurance is with Axa.",
        "Who is {P} life insurance with?",
    ),
    (
        "{P} test database is called qa-one.",
        "{P} test database is now called qa-two.",
        "{P} live database is called main-seven.",
        "What is {P} test database called?",
    ),
    (
        "{P} upper denture was fitted in 2018.",
        "{P} upper denture was fitted again in 2023.",
        "{P} lower bridge was fitted in 2021.",
        "When was {P} upper denture fitted?",
    ),
    (
        "{P} violin lesson is on Tuesday.",
        "{P} violin lesson was shifted to Saturday.",
        "{P} piano lesson is on Wednesday.",
        "When is {P} violin lesson?",
    ),
    (
        "{I} keep the key for the cellar in a drawer.",
        "{I} moved the key for the cellar to a hook.",
        "{I} keep the key for the shed in a tin.",
        "Where {do} {I} keep the key for the cellar?",
    ),
    (
        "{P} licence expires in May.",
        "{P} licence was renewed and expires in November.",
        "{P} visa expires in August.",
        "When does {P} licence expire?",
    ),
    (
        "{P} guest network password is tulip.",
        "{P} guest network password was changed to daisy.",
        "{P} home network password is poppy.",
        "What is {P} guest network password?",
    ),
    (
        "{I} run the backend service on Fly.",
        "{I} moved the backend service to Render.",
        "{I} run the frontend service on Netlify.",
        "Where {do} {I} run the backend service?",
    ),
    (
        "{P} left ear has a loss of 20 decibels.",
        "{P} left ear got worse, to 35 decibels.",
        "{P} right ear has a loss of 10 decibels.",
        "How much loss does {P} left ear have?",
    ),
    ("{P} Spanish teacher is Pilar.", "{P} new Spanish teacher is Carmen.", "{P} German teacher is Uwe.", "Who is {P} Spanish teacher?"),
    (
        "{P} electricity bill is 70 euros a month.",
        "{P} electricity bill rose to 90 euros a month.",
        "{P} water bill is 25 euros a month.",
        "How much is {P} electricity bill?",
    ),
    (
        "{P} bedroom window faces north.",
        "Since the move {P} bedroom window faces east.",
        "{P} kitchen window faces south.",
        "Where does {P} bedroom window face?",
    ),
    ("{I} weigh 82 kilos.", "{I} {am} down to 77 kilos.", "{P} uncle weighs 95 kilos.", "How much {do} {I} weigh?"),
    (
        "{P} road bike has 28 mm tyres.",
        "{P} road bike got 32 mm tyres.",
        "{P} mountain bike has 60 mm tyres.",
        "What tyres does {P} road bike have?",
    ),
)

OWN_ASIDE: tuple[Row, ...] = (
    ("{P} IBAN ends in 1188.", "{P} IBAN ends in 4402 now.", "{P} grandfather's IBAN ends in 7310.", "What does {P} IBAN end in?"),
    (
        "{I} take the bus to work.",
        "{I} started to take the tram to work.",
        "{P} partner takes the train to work.",
        "How {do} {I} get to work?",
    ),
    ("{P} collar size is 40.", "{P} collar size is 41 by now.", "{P} dad's collar size is 43.", "What is {P} collar size?"),
    (
        "{I} {am} afraid of spiders.",
        "{I} {am} afraid of heights now, and no longer of spiders.",
        "{P} niece is afraid of dogs.",
        "What {am} {I} afraid of?",
    ),
    (
        "{P} eye prescription is minus two.",
        "{P} eye prescription changed to minus three.",
        "{P} aunt's eye prescription is plus one.",
        "What is {P} eye prescription?",
    ),
    (
        "{I} pay 40 pounds for the phone contract.",
        "{I} pay 28 pounds for the phone contract since the change.",
        "{P} wife pays 15 pounds for the phone contract.",
        "How much {do} {I} pay for the phone contract?",
    ),
    ("{P} name day is in March.", "{P} name day was moved to April.", "{P} stepson's name day is in July.", "When is {P} name day?"),
    (
        "{P} spare tent sleeps two.",
        "{P} spare tent sleeps three since {I} replaced it.",
        "{P} family tent sleeps six.",
        "How many does {P} spare tent sleep?",
    ),
    (
        "{P} day shift starts at seven.",
        "{P} day shift starts at eight from now on.",
        "{P} night shift starts at nine.",
        "When does {P} day shift start?",
    ),
    (
        "{P} business card is from Amex.",
        "{P} business card is a Mastercard from N26 now.",
        "{P} personal card is from Visa.",
        "Who is {P} business card from?",
    ),
    (
        "{P} red wine comes from Rioja.",
        "{P} red wine comes from Douro these days.",
        "{P} white wine comes from Mosel.",
        "Where does {P} red wine come from?",
    ),
    (
        "{P} primary key is stored in a vault.",
        "{P} primary key was moved to a smart card.",
        "{P} signing key is stored in a keyring.",
        "Where is {P} primary key stored?",
    ),
    (
        "{P} lower back was treated in spring.",
        "{P} lower back was treated again in autumn.",
        "{P} right wrist was treated in summer.",
        "When was {P} lower back treated?",
    ),
    ("{P} Monday class is yoga.", "{P} Monday class was changed to pilates.", "{P} Friday class is boxing.", "What is {P} Monday class?"),
    (
        "{I} store the files of the choir in Dropbox.",
        "{I} store the files of the choir in Nextcloud now.",
        "{I} store the files of the club in Drive.",
        "Where {do} {I} store the files of the choir?",
    ),
    (
        "{P} lease ends in June.",
        "{P} lease was extended and ends in December.",
        "{P} subscription ends in October.",
        "When does {P} lease end?",
    ),
    (
        "{P} mobile tariff includes 5 gigabytes.",
        "{P} mobile tariff includes 20 gigabytes now.",
        "{P} home tariff includes 500 gigabytes.",
        "How much does {P} mobile tariff include?",
    ),
    (
        "{I} build the desktop app with Qt.",
        "{I} build the desktop app with Tauri now.",
        "{I} build the mobile app with Flutter.",
        "What {do} {I} build the desktop app with?",
    ),
    (
        "{P} inner courtyard has a fig tree.",
        "{P} inner courtyard has a plum tree now.",
        "{P} outer courtyard has a palm tree.",
        "What tree does {P} inner courtyard have?",
    ),
    ("{P} swimming coach is Lars.", "{P} new swimming coach is Nina.", "{P} tennis coach is Boris.", "Who is {P} swimming coach?"),
    (
        "{P} council tax is 120 pounds.",
        "{P} council tax went up to 140 pounds.",
        "{P} road tax is 60 pounds.",
        "How much is {P} council tax?",
    ),
    (
        "{P} attic room is rented to Paul.",
        "{P} attic room is rented to Sven now.",
        "{P} basement room is rented to Kim.",
        "Who is {P} attic room rented to?",
    ),
    (
        "{I} drink two cups of coffee a day.",
        "{I} cut down to one cup of coffee a day.",
        "{P} flatmate drinks five cups of coffee a day.",
        "How much coffee {do} {I} drink?",
    ),
    (
        "{P} electric guitar has six strings.",
        "{P} electric guitar has seven strings now.",
        "{P} bass guitar has four strings.",
        "How many strings does {P} electric guitar have?",
    ),
)

THINGS_SEEN: tuple[Row, ...] = (
    (
        "mail-relay2 accepts 200 connections.",
        "mail-relay2 accepts 350 connections.",
        "mail-relay2 keeps logs for 30 days.",
        "How many connections does mail-relay2 accept?",
    ),
    (
        "order-sync runs every 10 minutes.",
        "order-sync was slowed down to every 30 minutes.",
        "order-sync writes to bucket eu-7.",
        "How often does order-sync run?",
    ),
    (
        "The maintainer of geo-index is Tomas.",
        "The maintainer of geo-index is Ravi.",
        "The auditor of geo-index is Helen.",
        "Who maintains geo-index?",
    ),
    (
        "web-edge uses nginx 1.22.",
        "web-edge was upgraded to nginx 1.26.",
        "web-edge has four replicas.",
        "Which version of nginx does web-edge use?",
    ),
    (
        "user_cache expires after 60 seconds.",
        "user_cache expires after 15 seconds.",
        "session_cache expires after 900 seconds.",
        "When does user_cache expire?",
    ),
    ("Flag ENABLE_SYNC is off.", "Flag ENABLE_SYNC is on.", "Flag ENABLE_AUDIT is off.", "Is ENABLE_SYNC on or off?"),
    (
        "The retention period is 14 days.",
        "The retention period was extended to 90 days.",
        "The trial period is 30 days.",
        "How long is the retention period?",
    ),
    ("Retro is at 15:00.", "Retro is at 16:30.", "Planning is at 11:00.", "When is retro?"),
    ("The canteen opens at 11:30.", "The canteen opens at 12:00.", "The library opens at 9:00.", "When does the canteen open?"),
    ("The upload limit is 20 MB.", "The upload limit was raised to 50 MB.", "The download limit is 200 MB.", "What is the upload limit?"),
    (
        "The staff entrance is on Mill Lane.",
        "The staff entrance is on Ford Street.",
        "The visitor entrance is on High Street.",
        "Where is the staff entrance?",
    ),
    (
        "The deadline for abstracts is 4 March.",
        "The deadline for abstracts is 18 March.",
        "The deadline for posters is 9 April.",
        "When is the deadline for abstracts?",
    ),
)

THINGS_ASIDE: tuple[Row, ...] = (
    (
        "img-proxy serves 40 requests per second.",
        "img-proxy serves 75 requests per second.",
        "img-proxy restarts at 3 o'clock.",
        "How many requests does img-proxy serve?",
    ),
    ("tax-report is built by Maja.", "tax-report is built by Felix.", "tax-report is stored for ten years.", "Who builds tax-report?"),
    (
        "The password policy of hr-portal is 10 characters.",
        "The password policy of hr-portal is 14 characters.",
        "The session timeout of hr-portal is 20 minutes.",
        "What is the password policy of hr-portal?",
    ),
    (
        "auth-api2 depends on Redis 6.",
        "auth-api2 was moved to Redis 7.",
        "auth-api2 has a budget of 300 dollars.",
        "Which Redis does auth-api2 depend on?",
    ),
    ("retry_max is 3.", "retry_max is 8.", "retry_wait is 250.", "What is retry_max?"),
    ("job-4417 runs on host alpha.", "job-4417 runs on host gamma.", "job-5520 runs on host beta.", "Which host does job-4417 run on?"),
    (
        "The exchange fee is 2 percent.",
        "The exchange fee was lowered to 1 percent.",
        "The transfer fee is 5 dollars.",
        "How much is the exchange fee?",
    ),
    ("Choir practice is on Monday.", "Choir practice is on Thursday.", "Band practice is on Tuesday.", "When is choir practice?"),
    ("The pharmacy closes at 18:00.", "The pharmacy closes at 20:00.", "The bakery closes at 17:00.", "When does the pharmacy close?"),
    ("The speed limit is 50.", "The speed limit was cut to 30.", "The weight limit is 7 tonnes.", "What is the speed limit?"),
    (
        "The spare battery is in locker 4.",
        "The spare battery is in locker 9.",
        "The main battery is in locker 2.",
        "Where is the spare battery?",
    ),
    (
        "The fee for members is 12 euros.",
        "The fee for members is 15 euros.",
        "The fee for guests is 20 euros.",
        "How much is the fee for members?",
    ),
)

SETS = {"OWN_SEEN": OWN_SEEN, "OWN_ASIDE": OWN_ASIDE, "THINGS_SEEN": THINGS_SEEN, "THINGS_ASIDE": THINGS_ASIDE}
# Which of the three texts are told, and which of them is to be first.
STORES = {"parallel": ((0, 2), 0), "change": ((0, 1), 1), "both": ((0, 1, 2), 1)}


def say(template: str, who: str | None) -> str:
    words = ("my", "I", "do", "am") if who is None else (f"{who}'s", who, "does", "is")
    text = template
    for name, word in zip(("{P}", "{I}", "{do}", "{am}"), words, strict=True):
        text = text.replace(name, word)
    return text[0].upper() + text[1:]


def asked(engine: memspan.Engine, clock: memspan.testing.FakeClock, row: Row, who: str | None, told: tuple[int, ...]) -> list[int]:
    """The places in the row of what was found, in its order."""
    chance, user, places = random.Random(0), engine.user(f"{who}/{row[3]}/{told}"), {}  # noqa: S311
    clock.set(START)
    for _ in range(60):
        user.remember(chance.choice(OTHER_TEXTS).format(chance.randrange(100, 9999)))
    for place in told:
        clock.advance(timedelta(days=9))
        places[user.remember(say(row[place], who)).memory.id] = place
    hits = user.recall(say(row[3], who), limit=5)
    return [places[hit.memory.id] for hit in hits if hit.memory.id in places]


def measured(rows: tuple[Row, ...], people: tuple[str | None, ...], store: str, *, show: bool) -> str:
    (told, right), found = STORES[store], 0
    clock = memspan.testing.FakeClock(START)
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/parallel", clock=clock, durability="relaxed") as engine:
        for row in rows:
            for who in people:
                order = asked(engine, clock, row, who, told)
                found += order[:1] == [right]
                if show and order[:1] != [right]:
                    print(f"    {store} {order}: {say(row[3], who)} {[say(row[place], who) for place in told]}")
    count = len(rows) * len(people)
    return f"{store} {found / count:.3f} (n = {count})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    for name, rows in SETS.items():
        if not given.only or name in given.only.split(","):
            people = (None, "Anna") if name.startswith("OWN") else (None,)
            print(name, ", ".join(measured(rows, people, store, show=given.show) for store in STORES), flush=True)


if __name__ == "__main__":
    main()
