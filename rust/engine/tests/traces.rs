//! What goes with a memory: the words of it that stood elsewhere too, and of those that nobody approved.

mod support;

use std::ops::ControlFlow;

use memspan_engine::engine::Engine;
use memspan_engine::memory::{Action, Kind, NewMemory, State};
use memspan_engine::store::pages::Pages;
use support::{Folder, assert_sound, one, open, user, with_id, with_vector};

const TEXT: &str = "the alarm code is 4711";

/// How many values have the text.
fn values_with(engine: &Engine, text: &str) -> usize {
    let read = engine.store().read(|snapshot| {
        let mut count = 0;
        snapshot.scan(&[0], &[255; 32], &mut |_, value| {
            count += usize::from(value.windows(text.len()).any(|window| window == text.as_bytes()));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count)
    });
    read.expect("read")
}

#[test]
fn a_memory_that_waits_for_approval_goes_when_its_time_is_over() {
    let folder = Folder::in_memory();
    let engine = open(&folder.0, true);
    let from_web = |text: &str, ttl| NewMemory { kind: Kind::Preference, source: "web".into(), ttl, ..with_vector(text) };
    let waiting = one(&engine, &user("u"), from_web(TEXT, Some(1_000)), 100);
    let other = one(&engine, &user("u"), from_web("likes red", Some(9_000)), 100);
    assert_eq!((waiting.action, other.action), (Action::Quarantined, Action::Quarantined));
    assert_eq!(engine.expire(1_099).expect("expired"), 0);
    assert_eq!(values_with(&engine, TEXT), 1);
    assert!(engine.approve(&user("u"), &waiting.memory.id(), 1_200).is_err(), "its time is over");
    assert_eq!(engine.expire(1_200).expect("expired"), 1);
    assert_eq!(values_with(&engine, TEXT), 0, "nothing of it is left");
    let list = engine.quarantined(&user("u")).expect("listed");
    assert_eq!(list.iter().map(|memory| memory.text.as_str()).collect::<Vec<_>>(), ["likes red"]);
    let approved = engine.approve(&user("u"), &other.memory.id(), 2_000).expect("approved").memory;
    assert_eq!(approved.expires_at, Some(10_999), "as long as it was to live, less the microsecond by which it came second");
    one(&engine, &user("ahead"), with_vector("written by a clock that ran ahead"), 1_000_000);
    let early = one(&engine, &user("ahead"), from_web("likes green", Some(5_000)), 100);
    let approved = engine.approve(&user("ahead"), &early.memory.id(), 200).expect("approved").memory;
    assert_eq!(approved.expires_at, Some(5_100), "by the clock, not by the order of writes");
    assert_sound(&engine);
}

#[test]
fn a_text_that_was_said_again_goes_with_the_last_that_says_it() {
    let said = |trust, ttl| NewMemory { trust: Some(trust), ttl, ..with_vector(TEXT) };
    for how in ["forgotten", "expired"] {
        let folder = Folder::in_memory();
        let engine = open(&folder.0, true);
        one(&engine, &user("u"), said(1, Some(1_000)), 100);
        one(&engine, &user("u"), said(2, Some(1_500)), 200);
        let last = one(&engine, &user("u"), said(3, Some(2_000)), 300);
        assert_eq!(last.action, Action::Superseded);
        assert_eq!(values_with(&engine, TEXT), 3);
        let now = if how == "forgotten" { 400 } else { 5_000 };
        if how == "forgotten" {
            assert!(engine.forget(&user("u"), &last.memory.id(), None, now).expect("forgotten"));
        } else {
            engine.expire(now).expect("expired");
        }
        assert_eq!(values_with(&engine, TEXT), 0, "{how}");
        assert_sound(&engine);
    }
}

#[test]
fn another_text_that_was_superseded_stays_when_the_newer_one_is_forgotten() {
    let folder = Folder::in_memory();
    let engine = open(&folder.0, true);
    let slotted = |text: &str| NewMemory { slot: Some("code".into()), ..with_vector(text) };
    let old = one(&engine, &user("u"), slotted(TEXT), 100).memory.id();
    let new = one(&engine, &user("u"), slotted("the alarm code is 1"), 200).memory.id();
    assert!(engine.forget(&user("u"), &new, None, 300).expect("forgotten"));
    assert_eq!(engine.get(&user("u"), &old, 400).expect("read").expect("there").text, TEXT);
    assert_sound(&engine);
}

#[test]
fn the_id_of_a_superseded_memory_whose_time_is_over_is_rejected_at_once() {
    let folder = Folder::in_memory();
    let engine = open(&folder.0, true);
    let slotted = |id: &str, text: &str, ttl| NewMemory { slot: Some("code".into()), ttl, ..with_id(id, text) };
    one(&engine, &user("u"), slotted("first", TEXT, Some(1_000)), 100);
    one(&engine, &user("u"), slotted("second", "the alarm code is 1", None), 200);
    let again = one(&engine, &user("u"), with_id("first", "something else"), 2_000);
    assert_eq!(again.action, Action::Rejected);
    assert_eq!(again.memory.state(), State::Expired);
    assert_eq!(values_with(&engine, TEXT), 0);
    assert_sound(&engine);
}
