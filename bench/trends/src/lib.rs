//! Recall, precision and speed of trend detection in `tidings-query`, on simulated counts with planted trends.

pub mod churn;
pub mod drift;
pub mod engine;
pub mod imported;
pub mod measure;
pub mod month;
pub mod oracle;
pub mod plant;
pub mod product;
pub mod scenario;
pub mod world;
