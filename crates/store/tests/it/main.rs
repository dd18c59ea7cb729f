//! Properties of a home through its public interface, in one binary.

mod days;
mod imports;
mod pages;
mod whole;
