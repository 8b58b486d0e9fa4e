//! What a check can find wrong, as values that a person can read and a program can count. Numbers are as they are stored: a
//! damaged counter may well be negative.

use std::fmt;

use super::{HotFinding, ViewFinding};
use crate::{ArticleId, BoardId, CommentId};

/// One difference between what is counted or reported and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckFinding {
    /// A board without a counter.
    NoCounter {
        /// The board.
        board_id: BoardId,
    },
    /// A board's counter differs from its rows.
    BoardCount {
        /// The board.
        board_id: BoardId,
        /// What the counter says.
        counted: i64,
        /// Rows there are.
        rows: i64,
    },
    /// A counter that has changed fewer times than it counts.
    CountVersion {
        /// The board.
        board_id: BoardId,
        /// What the counter says.
        counted: i64,
        /// How often it has changed.
        version: i64,
    },
    /// A board holds a greater id than it knows of, so a block might open in the middle.
    GreatestId {
        /// The board.
        board_id: BoardId,
        /// What the counter knows.
        known: i64,
        /// The greatest there is.
        greatest: i64,
    },
    /// A block's count differs from the rows between its boundaries.
    Block {
        /// The board.
        board_id: BoardId,
        /// 1 for blocks, 2 for super-blocks.
        level: i64,
        /// Where the block starts.
        first_id: i64,
        /// What the block says.
        counted: i64,
        /// Rows there are.
        rows: i64,
    },
    /// The oldest block of a level does not start at the beginning, so rows lie before every block.
    Uncounted {
        /// The board.
        board_id: BoardId,
        /// 1 for blocks, 2 for super-blocks.
        level: i64,
        /// Rows before the first block.
        rows: i64,
    },
    /// A super-block starts where no block starts, so a page would be looked for in the wrong one.
    Boundary {
        /// The board.
        board_id: BoardId,
        /// Where the super-block starts.
        first_id: i64,
    },
    /// There are articles of a board that has no counter beside them.
    ArticlesWithoutCounter {
        /// The board.
        board_id: BoardId,
    },
    /// There are articles that no board counts.
    StrayArticles {
        /// Articles there are.
        rows: i64,
        /// Articles that the counters say.
        counted: i64,
    },
    /// A consumer group claims to have read what was never written.
    OffsetPastHead {
        /// The group.
        group: String,
        /// The topic.
        topic: String,
        /// The position that the group has stored.
        done: i64,
        /// The last position ever given.
        head: i64,
    },
    /// An event in the log that cannot be read.
    UnreadableEvent {
        /// Its position.
        position: i64,
        /// What is wrong with it.
        reason: String,
    },
    /// An article whose creation was reported more than once.
    CreatedTwice {
        /// The article.
        article_id: ArticleId,
    },
    /// The newest event of an article does not report it as it stands.
    EventDiffers {
        /// The article.
        article_id: ArticleId,
        /// The version after that event; `None` when it reports a deletion.
        reported: Option<u64>,
        /// The version of the row; `None` when there is none.
        stored: Option<u64>,
    },
    /// The log is complete, and yet some articles were never reported.
    Unreported {
        /// How many.
        articles: i64,
    },
    /// The counts of an article's comments differ from its rows.
    CommentCount {
        /// The article.
        article_id: ArticleId,
        /// What the counter says: visible comments, rows.
        counted: [i64; 2],
        /// What there is: visible comments, rows.
        rows: [i64; 2],
    },
    /// A counter of comments that has changed fewer times than it counts, or holds a greater id than it knows of.
    CommentCountVersion {
        /// The article.
        article_id: ArticleId,
        /// How often the counter has changed.
        version: i64,
        /// The greatest comment id that it knows.
        known: i64,
        /// The greatest there is.
        greatest: i64,
    },
    /// An article that is gone still has a counter of comments.
    CommentCountOfGone {
        /// The article.
        article_id: ArticleId,
    },
    /// A reply without the comment it replies to.
    CommentOrphan {
        /// The reply.
        comment_id: CommentId,
    },
    /// Something of an article that is neither there nor known to be deleted.
    WithoutArticle {
        /// The article that is not there.
        article_id: ArticleId,
        /// What is left of it.
        part: ArticlePart,
    },
    /// A view count differs from its events, or should not be there.
    View(ViewFinding),
    /// A score or a list of hot articles differs from its counts.
    Hot(HotFinding),
    /// A like counter differs from its rows.
    LikeCount {
        /// The article.
        article_id: ArticleId,
        /// What the counter says.
        counted: i64,
        /// Rows there are.
        rows: i64,
    },
    /// An article has likes and no counter.
    UncountedLikes {
        /// The article.
        article_id: ArticleId,
        /// Rows there are.
        rows: i64,
    },
    /// The newest event of an article's likes does not report its counter as it stands.
    LikeEventDiffers {
        /// The article.
        article_id: ArticleId,
        /// Count and version in the event.
        reported: (u64, u64),
        /// Count and version stored; `None` when there is no counter.
        stored: Option<(u64, u64)>,
    },
    /// The database found its own file damaged.
    Corrupt {
        /// What it said.
        message: String,
    },
}

/// What belongs to an article and is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArticlePart {
    /// Its comments.
    Comments,
    /// Its likes.
    Likes,
    /// Its views.
    Views,
}

impl fmt::Display for ArticlePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Comments => "comments",
            Self::Likes => "likes",
            Self::Views => "views",
        })
    }
}

impl fmt::Display for CheckFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCounter { board_id } => write!(f, "board {board_id} has no counter"),
            Self::BoardCount { board_id, counted, rows } => {
                write!(f, "board {board_id} counts {counted} articles and has {rows}")
            }
            Self::CountVersion { board_id, counted, version } => {
                write!(f, "board {board_id} counts {counted} articles after only {version} changes")
            }
            Self::GreatestId { board_id, known, greatest } => {
                write!(f, "board {board_id} knows of ids up to {known} and has {greatest}")
            }
            Self::Block { board_id, level, first_id, counted, rows } => {
                write!(
                    f,
                    "board {board_id}, block {first_id} of level {level} counts {counted} articles and has {rows}"
                )
            }
            Self::Uncounted { board_id, level, rows } => {
                write!(f, "board {board_id} has {rows} articles before its first block of level {level}")
            }
            Self::Boundary { board_id, first_id } => {
                write!(f, "board {board_id}, super-block {first_id} starts where no block does")
            }
            Self::ArticlesWithoutCounter { board_id } => {
                write!(f, "board {board_id} has articles and no counter beside them")
            }
            Self::StrayArticles { rows, counted } => {
                write!(f, "there are {rows} articles, and all boards together count {counted}")
            }
            Self::OffsetPastHead { group, topic, done, head } => {
                write!(f, "group {group} has read {topic} up to {done}, and the log ends at {head}")
            }
            Self::UnreadableEvent { position, reason } => write!(f, "event at position {position}: {reason}"),
            Self::CreatedTwice { article_id } => write!(f, "article {article_id} was reported as created twice"),
            Self::EventDiffers { article_id, reported, stored } => {
                write!(f, "article {article_id} was last reported as {}", Version(*reported))?;
                write!(f, " and is {}", Version(*stored))
            }
            Self::Unreported { articles } => {
                write!(f, "{articles} articles have no event although the log is complete")
            }
            Self::CommentCount { article_id, counted: [visible, all], rows: [visible_rows, rows] } => {
                write!(f, "article {article_id} counts {visible} comments in {all} rows")?;
                write!(f, " and has {visible_rows} in {rows}")
            }
            Self::CommentCountVersion { article_id, version, known, greatest } => {
                write!(f, "article {article_id} counts its comments after only {version} changes,")?;
                write!(f, " knows of ids up to {known} and has {greatest}")
            }
            Self::CommentCountOfGone { article_id } => {
                write!(f, "article {article_id} is gone and its comments are still counted")
            }
            Self::CommentOrphan { comment_id } => write!(f, "comment {comment_id} replies to one that is not there"),
            Self::WithoutArticle { article_id, part } => {
                write!(f, "article {article_id} is neither there nor marked as deleted, and its {part} are counted")
            }
            Self::View(finding) => finding.fmt(f),
            Self::Hot(finding) => finding.fmt(f),
            Self::LikeCount { article_id, counted, rows } => {
                write!(f, "article {article_id} counts {counted} likes and has {rows}")
            }
            Self::UncountedLikes { article_id, rows } => {
                write!(f, "article {article_id} has {rows} likes and no counter")
            }
            Self::LikeEventDiffers { article_id, reported: (count, version), stored } => {
                write!(f, "article {article_id} was last reported with {count} likes at version {version} and ")?;
                match stored {
                    Some((count, version)) => write!(f, "has {count} at version {version}"),
                    None => f.write_str("has no counter"),
                }
            }
            Self::Corrupt { message } => write!(f, "database file: {message}"),
        }
    }
}

impl From<HotFinding> for CheckFinding {
    fn from(finding: HotFinding) -> Self {
        Self::Hot(finding)
    }
}

impl From<ViewFinding> for CheckFinding {
    fn from(finding: ViewFinding) -> Self {
        Self::View(finding)
    }
}

struct Version(Option<u64>);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(f, "version {version}"),
            None => f.write_str("deleted"),
        }
    }
}
