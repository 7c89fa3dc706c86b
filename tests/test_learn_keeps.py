"""What stays beside what is learnt: the last message of a talk takes the place of what it replaces, and of nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import memspan


def known(user: memspan.Scope, *talk: str) -> list[tuple[str | None, str]]:
    for text in talk:
        user.learn([{"role": "user", "content": text}])
    return [(memory.slot, memory.text) for memory in user.memories()]


@pytest.mark.parametrize(
    ("talk", "stored"),
    [
        (
            ["My niece is allergic to soy.", "My niece is allergic to milk."],
            ["The user's niece is allergic to soy.", "The user's niece is allergic to milk."],
        ),
        (["My brother is diabetic.", "My brother is deaf."], ["The user's brother is diabetic.", "The user's brother is deaf."]),
        (
            ["Our team is good at Go.", "Our team is good at Rust."],
            ["Our team is good at Go.", "Our team is good at Rust."],
        ),
        (["My dog is ill.", "My dog is healthy again."], ["The user's dog is healthy again."]),
        (["My niece is 7.", "My niece is 8."], ["The user's niece is 8."]),
        (["My niece is a nurse.", "My niece is a teacher now."], ["The user's niece is a teacher."]),
        (["My niece is a nurse.", "My niece is a Beatles fan."], ["The user's niece is a nurse.", "The user's niece is a Beatles fan."]),
    ],
)
def test_two_facts_of_somebody_stand_beside_each_other(user: memspan.Scope, talk: list[str], stored: list[str]) -> None:
    assert [text for _, text in known(user, *talk)] == stored


def test_a_name_takes_no_place_of_a_condition(user: memspan.Scope) -> None:
    assert known(user, "My uncle is allergic to sesame.", "My uncle's name is Emil, not Emile as you wrote.") == [
        (None, "The user's uncle is allergic to sesame."),
        ("uncle", "My uncle's name is Emil, not Emile as you wrote."),
    ]


def test_orders_stand_beside_each_other(user: memspan.Scope) -> None:
    talk = ["Never run backups on Fridays.", "Never run jobs on CI.", "You must never log emails in prod."]
    assert [text for _, text in known(user, *talk, "You must never log tokens in dev.")] == [*talk, "You must never log tokens in dev."]


@pytest.mark.parametrize(
    ("talk", "stored"),
    [
        (["I'm allergic to bees.", "I'm not allergic to bees, only to wasps."], ["I'm not allergic to bees, only to wasps."]),
        (
            ["I work at Acme.", "I got a job at Bosch but declined it."],
            ["The user works for Acme.", "I got a job at Bosch but declined it."],
        ),
        (["I'm Ilse, I sell pots in Bruges."], ["The user's name is Ilse.", "I sell pots in Bruges."]),
    ],
)
def test_what_says_more_is_kept_whole(user: memspan.Scope, talk: list[str], stored: list[str]) -> None:
    assert [text for _, text in known(user, *talk)] == stored


def test_what_is_over_ends_the_value_of_a_slot_and_no_more(user: memspan.Scope) -> None:
    assert known(user, "I live in Ghent with Eva.", "I no longer live with Eva.") == [
        ("home", "I live in Ghent with Eva."),
        (None, "I no longer live with Eva."),
    ]


def test_what_was_measured_outlives_the_pills(user: memspan.Scope) -> None:
    first = "My blood pressure is 150 over 95, the doctor gave me enalapril."
    assert known(user, first, "I stopped taking enalapril.") == [("blood pressure", first), (None, "I stopped taking enalapril.")]


def test_who_moved_lives_where_they_moved_to(user: memspan.Scope) -> None:
    assert known(user, "I live in Lyon.", "We just moved from Lyon to Nantes btw.") == [("home", "The user lives in Nantes.")]
    assert known(user, "I no longer live in Nantes.") == [("home", "I no longer live in Nantes.")]


@pytest.mark.parametrize(
    "text",
    [
        '"I live in Mordor" was on the poster.',
        "As her coach puts it, 'I live in Mordor'.",
        "The ad that I got:\nI live in Mordor and my name is Zed.\nYours, Zed",
        "Draft a bio: I live in Mordor and my name is Zed.",
        "Rewrite this as a haiku. I live in Mordor.",
    ],
)
def test_words_of_others_change_nothing(user: memspan.Scope, text: str) -> None:
    assert known(user, "I live in Lyon.", text) == [("home", "The user lives in Lyon.")]


@pytest.mark.parametrize(
    ("first", "slot", "second"),
    [
        ("My wife is Ruth.", "wife", "My wife is Welsh."),
        ("My boss is Edda.", "boss", "My boss is COO."),
        ("My boss is Edda.", "boss", "My boss is a German citizen."),
        ("My wife is Ruth.", "wife", "My wife is a Java developer."),
        ("My dog is Rex.", "dog", "My dog is a Labrador."),
        ("My grandma is called Ruth.", "grandma", "My grandma is 80."),
        ("My hamster is called Bo.", "hamster", "My hamster is 2."),
        ("My name is Ilse.", "name", "I go by she/her."),
        ("My name is Ilse.", "name", "I'm Capricorn."),
        ("My name is Ilse.", "name", "I'm Kestrel."),
        ("My name is Ilse.", "name", "Call me a taxi."),
        ("My bike is a Trek.", "bike", "My bike is green."),
        ("My favorite band is Low.", "favorite band", "My favorite band is on tonight."),
        ("My timezone is CET.", "timezone", "My timezone is set incorrectly on the tablet."),
        ("I live in Lyon.", "home", "I live in Emacs."),
        ("I live in Lyon.", "home", "I moved to Terraform."),
        ("I work for IBM.", "employer", "I work for a minute or two before lunch."),
        ("I'm a nurse.", "occupation", "I'm a lousy driver."),
    ],
)
def test_what_names_nothing_takes_no_place(user: memspan.Scope, first: str, slot: str, second: str) -> None:
    before = known(user, first)
    assert [one for one in before if one[0] == slot] == [one for one in known(user, second) if one[0] == slot]


def test_an_introduction_waits_where_another_name_is_known(user: memspan.Scope) -> None:
    known(user, "My name is Ilse.", "I'm Kestrel.")
    assert [waiting.text for waiting in user.quarantined()] == ["The user's name is Kestrel."]
    assert known(user, "I'm Ilse Baert.") == [("name", "The user's name is Ilse Baert.")]


@pytest.mark.parametrize("part", ["I'm Ilse.", "I am Baert.", "I am Ilse Baert."])
def test_a_part_of_a_known_name_takes_nothing_from_it(user: memspan.Scope, part: str) -> None:
    known(user, "My name is Ilse Baert.", part)
    assert known(user) == [("name", "The user's name is Ilse Baert.")]
    assert not list(user.quarantined())


@pytest.mark.parametrize(
    ("said", "over"),
    [
        ("I'm pregnant.", "I'm no longer pregnant."),
        ("I'm asthmatic.", "I am not asthmatic anymore."),
        ("I'm diabetic.", "I'm not diabetic, that was a misdiagnosis."),
        ("I have severe asthma.", "I don't have asthma, that was a misdiagnosis."),
        ("I'm severely allergic to peanuts.", "I'm not allergic to peanuts after all."),
        ("I can't eat gluten.", "I can eat gluten now."),
        ("I don't eat pork.", "I eat pork again."),
        ("I like tea.", "I don\u2019t like tea."),
        ("Remember that Eva eats nuts.", "Remember that Eva doesn't eat nuts."),
        ("Remember that Eva uses Vim.", "Remember that Eva does not use Vim."),
        ("Remember that Eva can swim.", "Remember that Eva cannot swim."),
        ("Remember that Eva will come to Rome.", "Remember that Eva won't come to Rome."),
        ("Remember that Eva watches films.", "Remember that Eva does not watch films."),
    ],
)
def test_what_is_denied_does_not_stand_beside_its_denial(user: memspan.Scope, said: str, over: str) -> None:
    [(_, first)] = known(user, said)
    assert first not in [text for _, text in known(user, over)]


@pytest.mark.parametrize(
    ("said", "less"),
    [
        ("I'm allergic to peanuts.", "I'm not severely allergic to peanuts."),
        ("I'm allergic to peanuts.", "I'm not allergic to walnuts."),
        ("I can't eat gluten.", "I can eat gluten now and then."),
        ("I can't eat gluten.", "I can eat rice again."),
        ("I'm diabetic.", "I'm not blind."),
        ("I'm deaf.", "My aunt is not deaf."),
        ("My son is diabetic.", "I'm not diabetic."),
        ("My son is diabetic.", "I'm no longer diabetic."),
        ("My wife is vegan.", "I'm no longer vegan."),
        ("My sister is pregnant.", "I'm not pregnant anymore."),
    ],
)
def test_a_denial_of_less_ends_nothing(user: memspan.Scope, said: str, less: str) -> None:
    [before] = known(user, said)
    assert before in known(user, less)


def test_an_exception_takes_no_place_of_a_purpose(user: memspan.Scope) -> None:
    talk = known(user, "I prefer Ruby for data work.", "I prefer Kotlin, except for data work.")
    assert ("programming language for data work", "I prefer Ruby for data work.") in talk


def test_who_moved_lives_there_and_an_office_stands_there(user: memspan.Scope) -> None:
    assert known(user, "My grandparents moved to Bari.") == [("grandparents' home", "The user's grandparents live in Bari.")]
    assert ("bakery", "Our bakery is in Aalst.") in known(user, "Our bakery is in Ghent.", "Our bakery moved to Aalst.")
    assert all(text != "Our bakery is in Ghent." for _, text in known(user))


def test_a_condition_that_is_denied_is_over(user: memspan.Scope) -> None:
    told = "I don't have epilepsy, that was a mistake in my file."
    assert known(user, "I have epilepsy.", told) == [(None, told)]
    known(user, "I'm allergic to wasps and bees.", "I'm not allergic to bees after all.")
    assert (None, "The user is allergic to wasps and bees.") in known(user)


@pytest.mark.parametrize(
    "told",
    ["I'm allergic to latex, which gloves should I buy?", "PS: I'm allergic to latex", "As I'm allergic to latex, what can I wear?"],
)
def test_an_allergy_beside_a_question_is_kept(user: memspan.Scope, told: str) -> None:
    assert known(user, told) == [(None, "The user is allergic to latex.")]


def test_chat_in_small_letters_is_read(user: memspan.Scope) -> None:
    assert known(user, "stop using markdown", "new phone: Pixel 9") == [
        ("markdown", "stop using markdown"),
        ("phone", "The user's phone is Pixel 9."),
    ]


@pytest.mark.parametrize("text", ["Always that noise...", "Never noticed it", "I hate you", "I prefer option 2", "I hate when it rains"])
def test_chatter_is_not_pinned(user: memspan.Scope, text: str) -> None:
    user.learn([{"role": "user", "content": text}])
    assert [memory for memory in user.memories() if memory.kind in {"constraint", "preference"}] == []


@pytest.mark.parametrize(
    ("talk", "stays"),
    [
        (["My dentist is Dr Kay.", "My dentist is Dr Lee for implants."], "The user's dentist is Dr Kay."),
        (["My doctor is Dr Kay.", "My doctor is Dr Lee while Dr Kay is away."], "The user's doctor is Dr Kay."),
        (["My phone number is 555-1234.", "My phone number is 555-9999 until Friday."], "The user's phone number is 555-1234."),
        (["I live in Porto.", "I'm living in Madrid for three months."], "The user lives in Porto."),
        (["I live in Porto.", "On weekends, I live in Lyon."], "The user lives in Porto."),
        (["I live in Porto.", "In Skyrim, I live in Whiterun."], "The user lives in Porto."),
        (["I live in Porto.", "I moved to Friday."], "The user lives in Porto."),
        (["I work at Acme.", "I work for Initech too."], "The user works for Acme."),
        (["I work at Acme.", "I was laid off ten years ago."], "The user works for Acme."),
        (["My name is Ana.", "For this story, call me Ishmael."], "The user's name is Ana."),
        (["I take metformin 500 mg.", "I stopped taking metformin for two days."], "I take metformin 500 mg."),
        (["I'm vegan.", "I'm not vegan this week."], "I'm vegan."),
        (["I prefer Chrome to Firefox.", "I no longer use Firefox."], "I prefer Chrome to Firefox."),
        (["I prefer light mode.", "I prefer light meals."], "I prefer light mode."),
        (["We use Redis for queues.", "We don't use Redis for caching any more."], "We use Redis for queues."),
        (["Leo's swimming is on Wednesdays.", "Leo's swimming is at 5pm."], "Leo's swimming is on Wednesdays."),
        (["Mia's teacher is Mrs. Bianchi.", "Mia's teacher is Italian."], "Mia's teacher is Mrs. Bianchi."),
        (["Anna's brother is Tom.", "Anna's brother is Leo."], "Anna's brother is Tom."),
        (["payments-api runs on vega-05.", "payments-api runs on Node 20."], "payments-api runs on vega-05."),
        (["INV-2031 is due January 31.", "INV-2031 is due to Acme."], "INV-2031 is due January 31 (2025-01-31)."),
        (["My sister is Ana.", "Mia is my sister."], "The user's sister is Ana."),
        (["I know Python.", "I don't know Python well."], "I know Python."),
        (["I use Vim.", "I switched to Emacs but went back."], "I use Vim."),
        (["I'm married.", "I'm engaged with Acme on this."], "I'm married."),
        (["My dentist is Dr Lee for implants.", "My dentist is Dr Kay."], "My dentist is Dr Lee for implants."),
        (["My dentist is Dr Kay.", "For implants, my dentist is Dr Lee."], "The user's dentist is Dr Kay."),
        (["I'm married.", "For this form, I'm single."], "I'm married."),
        (["The standup is at 9:30.", "The standup is at 10 for now."], "The standup is at 9:30."),
        (["I live in Porto.", "I live in Lisbon in August."], "The user lives in Porto."),
        (["I take metformin.", "I stopped taking metformin when I was in hospital."], "I take metformin."),
        (["I take lisinopril.", "I stopped taking lisinopril but then started again."], "I take lisinopril."),
        (["My allergy is peanuts.", "My allergy is shellfish."], "My allergy is peanuts."),
    ],
)
def test_what_is_so_for_a_time_or_a_purpose_ends_nothing(user: memspan.Scope, talk: list[str], stays: str) -> None:
    assert stays in [text for _, text in known(user, *talk)]


@pytest.mark.parametrize(
    ("talk", "slot", "value"),
    [
        (["My teacher is Mr Kim for math.", "My teacher is Ms Lee for math."], None, "My teacher is Ms Lee for math."),
        (
            ["My budget for the trip is 500 euros.", "My budget for the trip is 800 euros."],
            "budget for the trip",
            "The user's budget for the trip is 800 euros.",
        ),
        (["I live in Porto.", "I moved to Lisbon in the summer."], "home", "I moved to Lisbon in the summer."),
        (["I work at Acme.", "I got fired this week."], "employer", "I got fired this week."),
        (["I smoke.", "I quit smoking."], None, "I no longer smoke."),
        (["Mia's teacher is Mrs. Bianchi.", "Mia's teacher is Mr. Neri now."], None, "Mia's teacher is Mr. Neri now."),
        (["INV-2031 is due January 31.", "INV-2031 is due May 15 now."], None, "INV-2031 is due May 15 (2025-05-15) now."),
        (["Luca is allergic to soy.", "Luca is no longer allergic to soy."], None, "Luca is no longer allergic to soy."),
        (["I don't have a car.", "I have a car now."], None, "I have a car now."),
        (["I take metformin 500 mg.", "I take metformin 1000 mg now."], None, "I take metformin 1000 mg now."),
        (["I'm single.", "I got married."], "marital status", "I got married."),
        (["I live in Porto.", "I moved to Lisbon for a job."], "home", "I moved to Lisbon for a job."),
        (["I live in Porto.", "I moved to Lisbon for good."], "home", "I moved to Lisbon for good."),
        (["I'm married.", "I'm divorced now."], "marital status", "I'm divorced now."),
    ],
)
def test_what_takes_the_place_of_a_value_has_the_same_limits(user: memspan.Scope, talk: list[str], slot: str | None, value: str) -> None:
    found = known(user, *talk)
    assert [text for name, text in found if name == slot] == [value], found
