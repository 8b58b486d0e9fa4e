//! What a check of a site tells, the same for every store: `madang check` prints it, whichever adapter compared.

mod finding;
mod hot;
mod report;
mod views;

pub use finding::{ArticlePart, CheckFinding};
pub use hot::{DayNumber, HotFinding};
pub use report::{CheckProgress, CheckReport, FINDINGS_MAX, TableSizes};
pub use views::ViewFinding;
