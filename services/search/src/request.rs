//! A request as the index is asked: a query, filters, an order, and where to go on.

use std::fmt;
use std::str::FromStr;

use madang_board::{BoardId, MemberId};
use madang_kernel::Timestamp;

use crate::Query;

/// Hits of one request by relevance that can be paged through: past them nobody looks for relevance any more.
pub const RELEVANT_MAX: usize = 1_000;
/// Hits of one request by time that can be paged through.
pub const NEWEST_MAX: usize = 10_000;
/// The most hits in one answer.
pub const LIMIT_MAX: usize = 50;
/// The hits in an answer of which nothing is said.
pub const LIMIT_DEFAULT: usize = 30;

/// What is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// An article: its title and its text.
    Article,
    /// A comment: its text.
    Comment,
}

impl Kind {
    /// Its name in addresses and answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Comment => "comment",
        }
    }
}

/// What a hit must be, besides what its text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Filters {
    /// Only of this kind.
    pub kind: Option<Kind>,
    /// Only on this board.
    pub board_id: Option<BoardId>,
    /// Only by this member.
    pub writer_id: Option<MemberId>,
    /// Only what was written at this moment or later.
    pub since: Option<Timestamp>,
    /// Only what was written before this moment.
    pub until: Option<Timestamp>,
}

/// Which hits come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Those that say most about what was asked; a title counts more than a text.
    #[default]
    Relevance,
    /// The newest.
    Newest,
}

/// Where a list goes on: after this hit, of which so many came before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cursor {
    /// By relevance: the score of the last hit as the engine tells it, and its id.
    Relevance {
        /// Hits so far.
        depth: usize,
        /// The bits of its score.
        score_bits: u64,
        /// Its id.
        id: i64,
    },
    /// By time: the id of the last hit, which tells its time.
    Newest {
        /// Hits so far.
        depth: usize,
        /// Its id.
        id: i64,
    },
}

impl Cursor {
    /// Hits that came before.
    pub fn depth(&self) -> usize {
        match self {
            Self::Relevance { depth, .. } | Self::Newest { depth, .. } => *depth,
        }
    }

    /// The order that it belongs to.
    pub fn order(&self) -> Order {
        match self {
            Self::Relevance { .. } => Order::Relevance,
            Self::Newest { .. } => Order::Newest,
        }
    }
}

/// Text that is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("after is not a cursor of this list: use the value of `next` from the answer before")]
pub struct NoCursor;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Relevance { depth, score_bits, id } => write!(f, "r.{depth}.{score_bits:x}.{id}"),
            Self::Newest { depth, id } => write!(f, "n.{depth}.{id}"),
        }
    }
}

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let parts: Vec<&str> = text.split('.').collect();
        let depth = |text: &str, max| text.parse().ok().filter(|depth| (1..max).contains(depth)).ok_or(NoCursor);
        let id = |text: &str| text.parse().ok().filter(|id| *id > 0).ok_or(NoCursor);
        match parts[..] {
            ["r", seen, score, last] => {
                let score_bits = u64::from_str_radix(score, 16).map_err(|_| NoCursor)?;
                if !f64::from_bits(score_bits).is_finite() {
                    return Err(NoCursor);
                }
                Ok(Self::Relevance { depth: depth(seen, RELEVANT_MAX)?, score_bits, id: id(last)? })
            }
            ["n", seen, last] => Ok(Self::Newest { depth: depth(seen, NEWEST_MAX)?, id: id(last)? }),
            _ => Err(NoCursor),
        }
    }
}

/// What an index is asked.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// What to look for; never empty.
    pub query: Query,
    /// What a hit must be besides.
    pub filters: Filters,
    /// Which come first.
    pub order: Order,
    /// Where to go on.
    pub after: Option<Cursor>,
    /// Hits at most.
    pub limit: usize,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_cursor_is_read_back_as_it_is_written() {
        let relevance = Cursor::Relevance { depth: 30, score_bits: (-3.5_f64).to_bits(), id: 77 };
        for cursor in [relevance, Cursor::Newest { depth: 9_999, id: i64::MAX }] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        let infinite = format!("r.1.{:x}.1", f64::INFINITY.to_bits());
        for text in ["", "n", "n.1", "n.1.0", "n.0.1", "n.10000.1", "r.1000.0.1", "r.1.x.1", "x.1.1", &infinite] {
            assert_eq!(text.parse::<Cursor>(), Err(NoCursor), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<String>()) {
            if let Ok(cursor) = text.parse::<Cursor>() {
                prop_assert_eq!(cursor.to_string().parse(), Ok(cursor));
            }
        }
    }
}
