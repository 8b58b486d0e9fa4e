//! What a check compares in the file of an embedded site.

use madang_board::check::CheckReport;
use madang_messaging::GroupId;
use madang_sqlite::{CheckDerived, CheckOptions, Sqlite};

use crate::commands::output::Output;
use crate::composition::site::Site;
use crate::tasks::consumers::{COMMENT_GROUP, HOT_GROUP, LIKE_GROUP, VIEW_GROUP};

/// Compares counters with rows, and derived data with its source.
pub(super) async fn check(database: &Sqlite, site: &Site, full: bool, output: &Output) -> anyhow::Result<CheckReport> {
    if full {
        output.text("reading every page of the database file").await?;
    }
    let progress = output.clone();
    let derived = CheckDerived {
        comment_group: GroupId::new(COMMENT_GROUP),
        like_group: GroupId::new(LIKE_GROUP),
        view_group: GroupId::new(VIEW_GROUP),
        hot_group: GroupId::new(HOT_GROUP),
        days: site.days.clone(),
    };
    let options = CheckOptions { integrity: full, derived: Some(derived) };
    let report = madang_sqlite::check(database, options, move |so_far| {
        progress.progress("boards", so_far.done, so_far.total);
    });
    Ok(report.await?)
}
