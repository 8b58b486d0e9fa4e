//! The experiments, one file or folder each, in the order in which the report tells them.

use crate::Experiment;

/// All of them.
#[must_use]
pub fn all() -> Vec<Box<dyn Experiment>> {
    vec![]
}
