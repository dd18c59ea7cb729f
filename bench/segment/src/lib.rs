//! Evaluates token and sentence segmentation on treebanks, and trains the boundary models.

pub mod learn;
pub mod peers;
pub mod python;
pub mod score;
pub mod split;
pub mod treebank;

/// CPU time of this process so far.
pub fn cpu_seconds() -> f64 {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}
