//! Runs the examples of the crate.
#![allow(dead_code)] // its `main` is for whoever runs it alone

#[path = "../examples/tour.rs"]
mod tour;

#[test]
fn the_tour_ends_well() {
    tour::run().expect("every step");
}
