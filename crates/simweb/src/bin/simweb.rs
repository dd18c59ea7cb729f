//! `simweb`: serves a simulated web until it is told to stop, then says how politely it was asked.

fn main() {}
