#![no_main]

#[path = "../targets.rs"]
#[allow(dead_code)] // one target of all
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::TARGETS.iter().find(|(name, _)| *name == "log").expect("named").1(data));
