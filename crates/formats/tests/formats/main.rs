//! Properties of readers and writers over random documents and damaged bytes.

mod arbitrary;
mod damaged;
mod hostile;
mod limits;
mod round_trip;
