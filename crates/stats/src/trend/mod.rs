//! Words over time: trends, bursts, seasons, level shifts, new words.
//!
//! Pure functions of counts per bin of the [`calendar`] and the tokens collected in each bin. A bin
//! without tokens is *not collected*: it has no rate, and no function here treats it as zero. The
//! formulas and measurements are in docs/notes/trends.md.

pub mod bursts;
pub mod calendar;
pub mod cells;
pub mod contrast;
pub mod course;
pub mod deviance;
pub mod discovery;
pub mod health;
pub mod kendall;
pub mod moderate;
pub mod newness;
pub mod novelty;
pub mod panel;
pub mod rise;
pub mod season;
pub mod sharpness;
pub mod shift;
pub mod site_burst;
pub mod site_rise;
pub mod site_series;
pub mod theil_sen;

pub use bursts::{BinCount, Burst, BurstConfig, Sequel, burst, tokens_before};
pub use calendar::{Bin, Step};
pub use cells::{
    CellCount, Counted, SiteCourse, SiteFit, SiteRegression, SiteTrends, SiteVolume, TrendFit, site_courses,
};
pub use contrast::{Difference, DocumentContrasts, DocumentUnit, Part, SiteContrasts};
pub use course::{Course, Courses, Shape};
pub use discovery::{discrete_discovery, false_discovery, weighted_discovery};
pub use health::{Collected, health};
pub use kendall::{Kendall, mann_kendall};
pub use newness::{NewWordConfig, NewWordWindow, NoNewWords, Persistence, Sighting, Verdict, is_word, judge};
pub use novelty::NoveltyTest;
pub use panel::alive_throughout;
pub use rise::{Mixture, Rise, RiseConfig, Rises, Table, Test, rises};
pub use season::{Season, season};
pub use sharpness::{StepFit, step_fit};
pub use shift::{Shift, shift};
pub use site_burst::{MeasuredBurst, SiteBursts};
pub use site_rise::{FittedRise, RiseFitter, SiteRises};
pub use site_series::{SiteAxis, WordSeries};
pub use theil_sen::{sketch_engine_score, theil_sen};
