//! Properties of readers and writers over random documents and damaged bytes, in one binary.

mod arbitrary;
mod damaged;
mod hostile;
mod limits;
mod round_trip;
