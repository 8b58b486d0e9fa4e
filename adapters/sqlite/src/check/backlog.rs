//! The backlog of a consumer group: of the articles in it, derived data may differ from its source, and of no other.

use std::collections::HashSet;

use madang_board::ArticleId;
use madang_engine_sqlite::{GroupState, groups, sql_error};
use madang_event::Topic;
use madang_kernel::StoreError;
use madang_messaging::GroupId;
use madang_messaging::consumer::ladder::is_rung_of;
use rusqlite::{Connection, params};

const UNDONE_KEYS: &str = include_str!("../../sql/check/undone_keys.sql");

/// Entries read; a group with more before it is too far behind to compare anything.
const UNDONE_MAX: u32 = 100_000;

/// Articles with entries that the group has not done, retries included; or why that cannot be told.
pub(super) fn backlog(
    tx: &Connection,
    group: &GroupId,
    topics: &[Topic],
) -> Result<Result<HashSet<ArticleId>, String>, StoreError> {
    let mut states = groups(tx).map_err(sql_error)?;
    states.retain(|state| state.group == *group);
    let mut articles = HashSet::new();
    let mut left = UNDONE_MAX;
    for topic in topics.iter().map(|topic| topic.name()) {
        if !states.iter().any(|state| state.topic == topic) {
            return Ok(Err(format!("group {group} has not joined the log")));
        }
        for state in states.iter().filter(|state| state.topic == topic || is_rung_of(&state.topic, topic, group)) {
            if state.fell_behind {
                return Ok(Err(format!("group {group} fell behind and is being rebuilt")));
            }
            if !collect(tx, state, &mut left, &mut articles).map_err(sql_error)? {
                return Ok(Err(format!("group {group} is more than {UNDONE_MAX} entries behind")));
            }
        }
    }
    Ok(Ok(articles))
}

/// Adds the keys that a group has not done in one topic; false when there are too many.
fn collect(
    tx: &Connection,
    state: &GroupState,
    left: &mut u32,
    articles: &mut HashSet<ArticleId>,
) -> rusqlite::Result<bool> {
    let mut undone = tx.prepare_cached(UNDONE_KEYS)?;
    let mut keys = undone.query(params![state.topic, state.done, *left + 1])?;
    while let Some(row) = keys.next()? {
        if *left == 0 {
            return Ok(false);
        }
        *left -= 1;
        // A key that is no article speaks of none.
        articles.extend(row.get_ref(0)?.as_str()?.parse::<ArticleId>());
    }
    Ok(true)
}
