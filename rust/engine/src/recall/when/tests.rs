//! Tests of the times that are read from questions, and of those that are not.

use super::{Range, read, read_local};
use crate::units::calendar::{DAY, date, day, valid, weekday};

/// A Wednesday.
const TODAY: (i64, i64, i64) = (2025, 6, 18);

fn today() -> i64 {
    day(TODAY.0, TODAY.1, TODAY.2)
}

fn shown(text: &str) -> String {
    let side = |side: Option<i64>| side.map_or_else(|| "..".to_owned(), |at| iso(at / DAY));
    // A quarter past noon: the time of day plays no part.
    match read_local(text, today() * DAY + 44_100_000_000) {
        None => "-".to_owned(),
        Some(range) => format!("{} {}", side(range.since), side(range.until)),
    }
}

fn iso(number: i64) -> String {
    let (year, month, day) = date(number);
    format!("{year}-{month:02}-{day:02}")
}

#[test]
fn a_number_in_words_is_read_as_in_digits() {
    for (words, digits) in
        [("in the last fifteen days", "in the last 15 days"), ("twenty-one days ago", "21 days ago"), ("thirty weeks ago", "30 weeks ago")]
    {
        assert_ne!(shown(digits), "-", "{digits}");
        assert_eq!(shown(words), shown(digits), "{words}");
    }
    assert_eq!(shown("zero days ago"), "-");
}

#[test]
fn expressions_of_time_are_read() {
    let cases = [
        ("what did we decide yesterday?", "2025-06-17 2025-06-18"),
        ("anything today", "2025-06-18 2025-06-19"),
        ("the day before yesterday", "2025-06-16 2025-06-17"),
        ("Where did I eat last night?", "2025-06-17 2025-06-18"),
        ("what's up tomorrow", "2025-06-19 2025-06-20"),
        ("last week's meeting", "2025-06-09 2025-06-16"),
        ("what happened this week", "2025-06-16 2025-06-19"),
        ("next week", "2025-06-23 2025-06-30"),
        ("last month", "2025-05-01 2025-06-01"),
        ("this month", "2025-06-01 2025-07-01"),
        ("next year", "2026-01-01 2027-01-01"),
        ("in the past week", "2025-06-11 2025-06-19"),
        ("in the last 10 days", "2025-06-08 2025-06-19"),
        ("over the past three months", "2025-03-18 2025-06-19"),
        ("last quarter", "2025-01-01 2025-04-01"),
        ("last weekend", "2025-06-14 2025-06-16"),
        ("What did I say last Tuesday?", "2025-06-17 2025-06-18"),
        ("last wednesday", "2025-06-11 2025-06-12"),
        ("next wednesday", "2025-06-25 2025-06-26"),
        ("next Friday", "2025-06-27 2025-06-28"),
        ("next Monday", "2025-06-23 2025-06-24"),
        ("the coming Friday", "2025-06-20 2025-06-21"),
        ("this Tuesday", "2025-06-17 2025-06-18"),
        ("this Friday", "2025-06-20 2025-06-21"),
        ("what did we discuss on Friday", "2025-06-13 2025-06-14"),
        ("on Wednesday", "2025-06-18 2025-06-19"),
        ("who called on Tue?", "2025-06-17 2025-06-18"),
        ("in May", "2025-05-01 2025-06-01"),
        ("in July", "2024-07-01 2024-08-01"),
        ("in june", "2025-06-01 2025-07-01"),
        ("last June", "2024-06-01 2024-07-01"),
        ("next June", "2026-06-01 2026-07-01"),
        ("Where did Ann go in May 2023?", "2023-05-01 2023-06-01"),
        ("in May of 2023", "2023-05-01 2023-06-01"),
        ("a plan from march 2024", "2024-03-01 2024-04-01"),
        ("last summer", "2024-06-01 2024-09-01"),
        ("this summer", "2025-06-01 2025-09-01"),
        ("last winter", "2024-12-01 2025-03-01"),
        ("in the summer of 2023", "2023-06-01 2023-09-01"),
        ("in summer", "2025-06-01 2025-09-01"),
        ("3 days ago", "2025-06-15 2025-06-16"),
        ("two weeks ago", "2025-06-01 2025-06-08"),
        ("a week ago", "2025-06-08 2025-06-15"),
        ("3 months ago", "2025-03-01 2025-04-01"),
        ("a couple of months ago", "2025-04-01 2025-05-01"),
        ("a few days ago", "2025-06-12 2025-06-17"),
        ("2 years ago", "2023-01-01 2024-01-01"),
        ("since March", "2025-03-01 .."),
        ("since yesterday", "2025-06-17 .."),
        ("since 2 weeks ago", "2025-06-01 .."),
        ("before 2024", ".. 2024-01-01"),
        ("after 2022", "2023-01-01 .."),
        ("after 2022 and before 2024", "2023-01-01 2024-01-01"),
        ("until May", ".. 2025-06-01"),
        ("between March and May", "2025-03-01 2025-06-01"),
        ("between 2 May 2023 and 7 June 2023", "2023-05-02 2023-06-08"),
        ("from 2021 to 2023", "2021-01-01 2024-01-01"),
        ("between last summer and now", "2024-06-01 2025-06-19"),
        ("What happened on 7 May?", "2025-05-07 2025-05-08"),
        ("on 7 July", "2024-07-07 2024-07-08"),
        ("on 29 February", "2024-02-29 2024-03-01"),
        ("May 7th, 2023", "2023-05-07 2023-05-08"),
        ("on Oct 22, 2023?", "2023-10-22 2023-10-23"),
        ("the 15th of June", "2025-06-15 2025-06-16"),
        ("the 7th of may, 2023", "2023-05-07 2023-05-08"),
        ("on the 15th", "2025-06-15 2025-06-16"),
        ("on the 31st", "2025-05-31 2025-06-01"),
        ("until the 15th", ".. 2025-06-16"),
        ("what did I spend by the 15th of it", ".. 2025-06-16"),
        ("since the 15th", "2025-06-15 .."),
        ("between the 3rd and the 15th", "2025-06-03 2025-06-16"),
        ("what did I eat from the 25th to the 5th?", "2025-05-25 2025-06-06"),
        ("between the 20th and 30th", "2025-05-20 2025-05-31"),
        ("between the 3rd and the 15th of May", "2025-05-03 2025-05-16"),
        ("from 25 May to the 3rd", "2025-05-25 2025-06-04"),
        ("between 3 and 20 February 2025", "2025-02-03 2025-02-21"),
        ("what did I say from 28 to 2 March?", "2025-02-28 2025-03-03"),
        ("between 3 and 20 days ago", "2025-05-29 2025-05-30"),
        ("from the 31st to 2 March", "2025-01-31 2025-03-03"),
        ("2026-03-01", "2026-03-01 2026-03-02"),
        ("on 2026-03-01T10:00:00Z", "2026-03-01 2026-03-02"),
        ("(2026-03)", "2026-03-01 2026-04-01"),
        ("3/2026", "2026-03-01 2026-04-01"),
        ("2026/03/01", "2026-03-01 2026-03-02"),
        ("15.6.2025", "2025-06-15 2025-06-16"),
        ("6/15/2025", "2025-06-15 2025-06-16"),
        ("Q2 2025", "2025-04-01 2025-07-01"),
        ("revenue in Q4", "2024-10-01 2025-01-01"),
        ("2024-Q3", "2024-07-01 2024-10-01"),
        ("in 2024", "2024-01-01 2025-01-01"),
        ("did I run in May 2024 or in June 2024", "2024-05-01 2024-07-01"),
    ];
    are_read(&cases);
}

/// Compares what is read with what is meant.
fn are_read(cases: &[(&str, &str)]) {
    let wrong: Vec<_> = cases.iter().map(|(text, range)| (text, shown(text), range)).filter(|(_, got, range)| got != *range).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_question_for_what_is_to_come_means_the_next_one() {
    are_read(&[
        ("Do I have anything on Friday?", "2025-06-20 2025-06-21"),
        ("Am I busy on Wednesday?", "2025-06-18 2025-06-19"),
        ("Do I have anything this Friday?", "2025-06-20 2025-06-21"),
        ("Do I have anything this Tuesday?", "2025-06-24 2025-06-25"),
        ("Do I have anything next Thursday?", "2025-06-26 2025-06-27"),
        ("What's on Monday?", "2025-06-23 2025-06-24"),
        ("what do we have on Tuesday morning", "2025-06-24 2025-06-25"),
        ("Is there a meeting on the 3rd of May?", "2026-05-03 2026-05-04"),
        ("Will I be in Rome on the 15th?", "2025-07-15 2025-07-16"),
        ("Is anything planned for May?", "2026-05-01 2026-06-01"),
        ("What are my plans for June?", "2025-06-18 2025-07-01"),
        ("What do I have to do by Friday?", "2025-06-18 2025-06-21"),
        ("What do I have next week?", "2025-06-23 2025-06-30"),
        ("What do I have this week?", "2025-06-18 2025-06-23"),
        ("What's on my calendar for the next two weeks?", "2025-06-18 2025-07-03"),
        ("Is anything due in the next 10 days?", "2025-06-18 2025-06-29"),
        ("Am I free in the coming month?", "2025-07-01 2025-08-01"),
        ("What do I know since Monday?", "2025-06-16 .."),
        ("What do I have coming up?", "2025-06-18 2025-07-19"),
        ("Any upcoming appointments?", "2025-06-18 2025-07-19"),
        ("what's on my calendar", "2025-06-18 2025-07-19"),
        ("What's coming up next week?", "2025-06-23 2025-06-30"),
        ("What do I have on 6/24?", "2025-06-24 2025-06-25"),
        ("What do I have on 24/6?", "2025-06-24 2025-06-25"),
        ("what did we do on 5/24", "2025-05-24 2025-05-25"),
        ("What do I owe of last May?", "2025-05-01 2025-06-01"),
        ("What do I have from March 2024?", "2024-03-01 2024-04-01"),
        ("What did I plan on Monday?", "2025-06-16 2025-06-17"),
        ("Was I free on Monday?", "2025-06-16 2025-06-17"),
        ("Do I know whom I met on Monday?", "2025-06-16 2025-06-17"),
        ("what do i have friday", "2025-06-20 2025-06-21"),
        ("whats on my calendar friday?", "2025-06-20 2025-06-21"),
        ("Who is Ana on Monday?", "2025-06-16 2025-06-17"),
    ]);
    let range = |since: i64, until: i64| Range { since: Some(since), until: Some(until) };
    for offset in [-10, -5, 0, 2, 13] {
        let hours = |day: i64| day * DAY - offset * DAY / 24;
        assert_eq!(range(hours(20_000), hours(20_007)).days(), 20_000..20_007, "{offset}");
    }
    assert_eq!((range(0, 32 * DAY).days(), Range { since: Some(0), until: None }.days()), (0..0, 0..0));
    assert_eq!(range(i64::MIN, i64::MAX).days(), 0..0);
}

#[test]
fn expressions_side_by_side_and_parts_of_periods_are_read() {
    let cases = [
        ("in May last year", "2024-05-01 2024-06-01"),
        ("in May of last year", "2024-05-01 2024-06-01"),
        ("last year in May", "2024-05-01 2024-06-01"),
        ("since May last year", "2024-05-01 .."),
        ("on Monday, May 12", "2025-05-12 2025-05-13"),
        ("on Tuesday, May 13th", "2025-05-13 2025-05-14"),
        ("on Friday, 2 May 2025", "2025-05-02 2025-05-03"),
        ("in Q1 this year", "2025-01-01 2025-04-01"),
        ("in March this year", "2025-03-01 2025-04-01"),
        ("in Q4 of last year", "2024-10-01 2025-01-01"),
        ("in the spring of last year", "2024-03-01 2024-06-01"),
        ("on the 3rd of last month", "2025-05-03 2025-05-04"),
        ("on Friday last week", "2025-06-13 2025-06-14"),
        ("on Friday of last week", "2025-06-13 2025-06-14"),
        ("on Friday two weeks ago", "2025-06-06 2025-06-07"),
        ("a week ago today", "2025-06-11 2025-06-12"),
        ("a year ago today", "2024-06-18 2024-06-19"),
        ("the last two weeks of May", "2025-05-18 2025-06-01"),
        ("the last day of May", "2025-05-31 2025-06-01"),
        ("on the last Friday in May", "2025-05-30 2025-05-31"),
        ("on the first Monday of May", "2025-05-05 2025-05-06"),
        ("in May '24", "2024-05-01 2024-06-01"),
        ("the week of May 14", "2025-05-12 2025-05-19"),
        ("in the week of the 14th of May", "2025-05-12 2025-05-19"),
        ("the week starting May 12", "2025-05-12 2025-05-19"),
        ("from May 3 to 9", "2025-05-03 2025-05-10"),
        ("on May 3-9", "2025-05-03 2025-05-10"),
        ("between May 3 and 9", "2025-05-03 2025-05-10"),
        ("on Thursday the 12th", "2025-06-12 2025-06-13"),
        ("on Monday the 12th", "2025-05-12 2025-05-13"),
        ("three days from now", "2025-06-21 2025-06-22"),
        ("half a year ago", "2024-12-01 2025-01-01"),
        ("in early May", "2025-05-01 2025-05-11"),
        ("mid May", "2025-05-11 2025-05-21"),
        ("in mid-May", "2025-05-11 2025-05-21"),
        ("in late May", "2025-05-21 2025-06-01"),
        ("at the end of last year", "2024-09-01 2025-01-01"),
        ("at the beginning of May", "2025-05-01 2025-05-11"),
        ("since late May", "2025-05-21 .."),
        ("in the first week of May", "2025-05-01 2025-05-08"),
        ("in the third week of May", "2025-05-15 2025-05-22"),
        ("in the last week of May", "2025-05-25 2025-06-01"),
        ("in the first half of 2024", "2024-01-01 2024-07-02"),
        ("in the second half of May", "2025-05-16 2025-06-01"),
        ("the week before last", "2025-06-02 2025-06-09"),
        ("the month before last", "2025-04-01 2025-05-01"),
        ("earlier this week", "2025-06-16 2025-06-23"),
        ("yesterday evening", "2025-06-17 2025-06-18"),
        ("over the weekend", "2025-06-14 2025-06-16"),
        ("an hour ago", "2025-06-18 2025-06-19"),
        ("in the last 24 hours", "2025-06-17 2025-06-19"),
        ("what did i do on may 12?", "2025-05-12 2025-05-13"),
        ("on May the 12th", "2025-05-12 2025-05-13"),
        ("in the year 2024", "2024-01-01 2025-01-01"),
        ("what happened since April?", "2025-04-01 2025-06-19"),
        ("what happened so far this year?", "2025-01-01 2025-06-19"),
        ("what did we plan for this week?", "2025-06-16 2025-06-23"),
        ("what is due after June 1?", "2025-06-02 .."),
        ("what was scheduled after Monday?", "2025-06-17 .."),
        ("revenue in the last quarter of 2024", "2024-10-01 2025-01-01"),
        ("in the first quarter of 2024", "2024-01-01 2024-04-01"),
        ("in the last month of 2024", "2024-12-01 2025-01-01"),
        ("in the first three months of 2024", "2024-01-01 2024-04-01"),
        ("on Monday the 16th of June", "2025-06-16 2025-06-17"),
        ("from Monday to Wednesday last week", "2025-06-09 2025-06-12"),
        ("between Monday and Friday last week", "2025-06-09 2025-06-14"),
        ("from Friday to Monday", "2025-06-13 2025-06-17"),
        ("who scored in the first half last Saturday", "2025-06-14 2025-06-15"),
        ("what's on Monday, July 7", "2025-07-07 2025-07-08"),
        ("on Friday, June 20", "2025-06-20 2025-06-21"),
        ("the weekend before last", "2025-06-07 2025-06-09"),
        ("this month, last month and the month before last", "2025-04-01 2025-07-01"),
    ];
    are_read(&cases);
}

#[test]
fn what_is_no_time_is_not_read() {
    let texts = [
        "",
        "which port does payments-api use?",
        "May I march in?",
        "what did June say about April",
        "never deploy on a Friday",
        "every Tuesday",
        "is Sunday's the best ice cream", // the first word is no proof of a name, this one is in the middle
        "port 2024",
        "ticket #2024 in #2023",
        "release-2026-03-01.tar",
        "/var/log/2026-03-01",
        "version 1.2.2024",
        "3/4/2025",
        "2026-13-01 and 2026-02-30",
        "the last man",
        "a second opinion",
        "between you and me",
        "since when",
        "before lunch",
        "spring boot falls",
        "on 31 June",
        "99999999999999999999 days ago",
        "last 2 bugs",
        "ago",
        "last",
        "in",
        "between",
        "by the 2nd speaker",
        "between the 1st and the 2nd floor",
        "from the 1st to the last man",
        "from May",
        "the first half of the game",
        "the end of the world",
        "week of the bug",
        "in the middle of nowhere",
        "what did I paint recently", // a preference for the last two weeks loses the answer oftener than it helps
    ];
    let read: Vec<_> = texts.into_iter().map(|text| (text, shown(text))).filter(|(_, got)| got != "-").collect();
    let exceptions = ["is Sunday's the best ice cream", "version 1.2.2024", "from May"];
    let wrong: Vec<_> = read.iter().filter(|(text, _)| !exceptions.contains(text)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_zone_moves_the_days() {
    // 2025-06-18T23:30Z is the 19th in Berlin, and the 18th in New York.
    let now = today() * DAY + 84_600_000_000;
    let of = |offset_hours: i32| read("yesterday", now, offset_hours * 3600).expect("a range");
    let hours = |range: Range| range.since.map(|at| (at - today() * DAY) / 3_600_000_000);
    assert_eq!(hours(of(0)), Some(-24));
    assert_eq!(hours(of(2)), Some(-2));
    assert_eq!(hours(of(-4)), Some(-20));
    assert!(of(2).contains(now - 2 * 3_600_000_000) && !of(2).contains(now));
}

#[test]
fn a_text_is_no_question() {
    let long = format!("yesterday {}", "x".repeat(super::MAX_BYTES));
    assert_eq!(read(&long, 0, 0), None);
    for now in [i64::MIN, -1, 0, i64::MAX] {
        for text in [
            "yesterday",
            "999 years ago",
            "next week",
            "in May",
            "on the 31st",
            "since Q1",
            "the first week of May",
            "on Monday the 12th",
            "the last Friday in May",
        ] {
            let _ = read(text, now, i32::MAX);
        }
    }
}

#[test]
fn the_calendar_is_the_civil_one() {
    let (mut expected, mut number) = ((1896, 1, 1), day(1896, 1, 1));
    while expected.0 < 2105 {
        assert_eq!(date(number), expected);
        assert_eq!(day(expected.0, expected.1, expected.2), number);
        number += 1;
        let (year, month, of_month) = expected;
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let length = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
        expected = if of_month < length {
            (year, month, of_month + 1)
        } else if month < 12 {
            (year, month + 1, 1)
        } else {
            (year + 1, 1, 1)
        };
    }
    assert_eq!((day(1970, 1, 1), weekday(0), weekday(today())), (0, 3, 2));
    assert_eq!((day(2025, 13, 1), day(2025, 0, 1)), (day(2026, 1, 1), day(2024, 12, 1)));
    assert_eq!((valid(2025, 2, 29), valid(2024, 2, 29)), (None, Some(day(2024, 2, 29))));
}
