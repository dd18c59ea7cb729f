//! The harvest from end to end: the real program, a real home, a web of which everything is known.

mod annotate;
mod ask;
mod clean;
mod compile;
mod crash;
mod daily;
mod dedup;
mod discover;
mod extract;
mod faults;
mod formats;
mod lang;
mod limits;
mod models;
mod retries;
mod schedule;
mod serve;
mod support;
mod tokenize;
mod trouble;
