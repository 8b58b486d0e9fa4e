//! What becomes of each table when a site moves. A table that nobody decided about fails a test.

use super::ExportTable;
use super::KeyKind::{Integer, Text};

/// A table and what becomes of it.
#[derive(Debug, Clone, Copy)]
pub struct TableFate {
    /// The table.
    pub name: &'static str,
    /// What becomes of it.
    pub fate: Fate,
}

/// What becomes of a table when its site moves.
#[derive(Debug, Clone, Copy)]
pub enum Fate {
    /// Every row goes along.
    Moved(ExportTable),
    /// It stays behind, for this reason.
    Stays(&'static str),
}

macro_rules! moved {
    ($name:literal, $file:literal, $($key:ident),+) => {
        TableFate {
            name: $name,
            fate: Fate::Moved(ExportTable {
                name: $name,
                sql: include_str!(concat!("../../", $file)),
                key: &[$($key),+],
            }),
        }
    };
}

const fn stays(name: &'static str, reason: &'static str) -> TableFate {
    TableFate { name, fate: Fate::Stays(reason) }
}

const SEARCH_STAYS: &str = "an index is made anew from articles and comments by the engine of the cluster";

/// Every table of the schema, in the order in which those that move do: what counts comes after what is counted.
pub const TABLES: &[TableFate] = &[
    moved!("member", "sql/export/members.sql", Integer),
    moved!("revocation", "sql/export/revocations.sql", Integer),
    moved!("moderation_act", "sql/export/acts.sql", Integer),
    moved!("report", "sql/export/reports.sql", Integer),
    moved!("board", "sql/export/boards.sql", Integer),
    moved!("article", "sql/export/articles.sql", Integer),
    moved!("article_pin", "sql/export/pins.sql", Integer),
    moved!("article_removed", "sql/export/removed_articles.sql", Integer),
    moved!("article_block", "sql/export/blocks.sql", Integer, Integer, Integer),
    moved!("board_article_count", "sql/export/board_counts.sql", Integer),
    moved!("comment", "sql/export/comments.sql", Integer),
    moved!("comment_removed", "sql/export/removed_comments.sql", Integer),
    moved!("article_comment_count", "sql/export/comment_counts.sql", Integer),
    moved!("comment_article_gone", "sql/export/comment_gone.sql", Integer),
    moved!("article_like", "sql/export/likes.sql", Integer, Integer),
    moved!("article_like_count", "sql/export/like_counts.sql", Integer),
    moved!("like_article_gone", "sql/export/like_gone.sql", Integer),
    moved!("article_view_count", "sql/export/view_counts.sql", Integer),
    moved!("view_article_gone", "sql/export/view_gone.sql", Integer),
    moved!("once_answer", "sql/export/once_answers.sql", Integer, Text, Text),
    moved!("hot_day", "sql/export/hot_days.sql", Integer),
    moved!("hot_score", "sql/export/hot_scores.sql", Integer, Integer),
    moved!("hot_final", "sql/export/hot_lists.sql", Integer, Integer),
    stays("search_doc", SEARCH_STAYS),
    stays("search_state", SEARCH_STAYS),
    stays("search_text_0", SEARCH_STAYS),
    stays("search_text_0_data", SEARCH_STAYS),
    stays("search_text_0_idx", SEARCH_STAYS),
    stays("search_text_0_docsize", SEARCH_STAYS),
    stays("search_text_0_config", SEARCH_STAYS),
    stays("search_text_1", SEARCH_STAYS),
    stays("search_text_1_data", SEARCH_STAYS),
    stays("search_text_1_idx", SEARCH_STAYS),
    stays("search_text_1_docsize", SEARCH_STAYS),
    stays("search_text_1_config", SEARCH_STAYS),
    stays("session", "a cluster signs with other keys: everybody signs in again"),
    stays("password_reset", "links of an hour: whoever still needs one is given another"),
    stays("event_log", "every group has consumed it before a site moves, and the query model is made anew"),
    stays("log_group", "groups begin at the head of a new log"),
    stays("dead_letter", "belongs to the old log: replay what should be replayed before a site moves"),
    stays("node_lease", "its end is handed over: leases begin above it"),
    stays("refinery_schema_history", "each store has a schema of its own"),
];
