//! schemathesis itself.

use std::path::PathBuf;

use anyhow::Result;

use crate::python;

/// What must be installed.
const REQUIREMENTS: &str = include_str!("../../schemathesis/requirements.txt");

/// The program; installs what is not there yet.
pub(super) fn ready() -> Result<PathBuf> {
    python::program("schemathesis", REQUIREMENTS, "schemathesis")
}
