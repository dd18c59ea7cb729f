//! The harvest from end to end: the real program, a real home, a web of which everything is known.

mod annotate;
mod ask;
mod backup;
mod clean;
mod compile;
mod crash;
mod daily;
mod dedup;
mod digest;
mod discover;
mod extract;
mod faults;
mod formats;
mod lang;
mod limits;
mod remove;
mod retries;
mod schedule;
mod serve;
mod support;
mod tokenize;
mod trouble;
mod why;
