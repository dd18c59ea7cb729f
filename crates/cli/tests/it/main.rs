//! The harvest from end to end: the real program, a real home, a web of which everything is known.

mod annotate;
mod ask;
mod clean;
mod compile;
mod crash;
mod daily;
mod dedup;
mod discover;
mod doctor;
mod extract;
mod faults;
mod formats;
mod lang;
mod limits;
mod report;
mod retries;
mod run;
mod schedule;
mod serve;
mod status;
mod support;
mod tokenize;
mod trouble;
