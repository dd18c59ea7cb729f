//! Properties of a home through its public interface.

mod days;
mod imports;
mod pages;
mod whole;
