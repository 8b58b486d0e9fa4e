//! What a check can find wrong, as values that a person can read and a program can count. Numbers are as they are stored: a
//! damaged counter may well be negative.

use std::fmt;

use super::{HotFinding, ViewFinding};
use crate::{ArticleId, BoardId, CommentId};

/// One difference between what is counted or reported and what is there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckFinding {
    /// A board without a counter.
    #[error("board {board_id} has no counter")]
    NoCounter {
        /// The board.
        board_id: BoardId,
    },
    /// A counter of a board that does not exist.
    #[error("board {board_id} has a counter and does not exist")]
    NoBoard {
        /// The board.
        board_id: BoardId,
    },
    /// A board's counter differs from its rows.
    #[error("board {board_id} counts {counted} articles and has {rows}")]
    BoardCount {
        /// The board.
        board_id: BoardId,
        /// What the counter says.
        counted: i64,
        /// Rows there are.
        rows: i64,
    },
    /// A counter that has changed fewer times than it counts.
    #[error("board {board_id} counts {counted} articles after only {version} changes")]
    CountVersion {
        /// The board.
        board_id: BoardId,
        /// What the counter says.
        counted: i64,
        /// How often it has changed.
        version: i64,
    },
    /// A board holds a greater id than it knows of, so a block might open in the middle.
    #[error("board {board_id} knows of ids up to {known} and has {greatest}")]
    GreatestId {
        /// The board.
        board_id: BoardId,
        /// What the counter knows.
        known: i64,
        /// The greatest there is.
        greatest: i64,
    },
    /// A block's count differs from the rows between its boundaries.
    #[error("board {board_id}, block {first_id} of level {level} counts {counted} articles and has {rows}")]
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
    #[error("board {board_id} has {rows} articles before its first block of level {level}")]
    Uncounted {
        /// The board.
        board_id: BoardId,
        /// 1 for blocks, 2 for super-blocks.
        level: i64,
        /// Rows before the first block.
        rows: i64,
    },
    /// A super-block starts where no block starts, so a page would be looked for in the wrong one.
    #[error("board {board_id}, super-block {first_id} starts where no block does")]
    Boundary {
        /// The board.
        board_id: BoardId,
        /// Where the super-block starts.
        first_id: i64,
    },
    /// There are articles of a board that has no counter beside them.
    #[error("board {board_id} has articles and no counter beside them")]
    ArticlesWithoutCounter {
        /// The board.
        board_id: BoardId,
    },
    /// There are articles that no board counts.
    #[error("there are {rows} articles, and all boards together count {counted}")]
    StrayArticles {
        /// Articles there are.
        rows: i64,
        /// Articles that the counters say.
        counted: i64,
    },
    /// A consumer group claims to have read what was never written.
    #[error("group {group} has read {topic} up to {done}, and the log ends at {head}")]
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
    #[error("event at position {position}: {reason}")]
    UnreadableEvent {
        /// Its position.
        position: i64,
        /// What is wrong with it.
        reason: String,
    },
    /// A pin of an article that is not on the board.
    #[error("article {article_id} is pinned on board {board_id} and is not there")]
    PinWithoutArticle {
        /// The board.
        board_id: BoardId,
        /// The article.
        article_id: ArticleId,
    },
    /// An article whose creation was reported more than once.
    #[error("article {article_id} was reported as created twice")]
    CreatedTwice {
        /// The article.
        article_id: ArticleId,
    },
    /// The newest event of an article does not report it as it stands.
    #[error("article {article_id} was last reported as {} and is {}", version(*.reported), version(*.stored))]
    EventDiffers {
        /// The article.
        article_id: ArticleId,
        /// The version after that event; `None` when it reports a deletion.
        reported: Option<u64>,
        /// The version of the row; `None` when there is none.
        stored: Option<u64>,
    },
    /// The log is complete, and yet some articles were never reported.
    #[error("{articles} articles have no event although the log is complete")]
    Unreported {
        /// How many.
        articles: i64,
    },
    /// The counts of an article's comments differ from its rows.
    #[error("article {article_id} counts {} comments in {} rows and has {} in {}", .counted[0], .counted[1], .rows[0], .rows[1])]
    CommentCount {
        /// The article.
        article_id: ArticleId,
        /// What the counter says: visible comments, rows.
        counted: [i64; 2],
        /// What there is: visible comments, rows.
        rows: [i64; 2],
    },
    /// A counter of comments that has changed fewer times than it counts, or holds a greater id than it knows of.
    #[error(
        "article {article_id} counts its comments after only {version} changes, knows of ids up to {known} and has {greatest}"
    )]
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
    #[error("article {article_id} is gone and its comments are still counted")]
    CommentCountOfGone {
        /// The article.
        article_id: ArticleId,
    },
    /// The newest comment that is noted of an article is another than the newest that is there.
    #[error("article {article_id} has comment {noted} noted as its newest, and comment {newest} is")]
    LastComment {
        /// The article.
        article_id: ArticleId,
        /// The comment that is noted; 0 for none.
        noted: i64,
        /// The newest visible comment; 0 for none.
        newest: i64,
    },
    /// A reply without the comment it replies to.
    #[error("comment {comment_id} replies to one that is not there")]
    CommentOrphan {
        /// The reply.
        comment_id: CommentId,
    },
    /// Something of an article that is neither there nor known to be deleted.
    #[error("article {article_id} is neither there nor marked as deleted, and its {part} are counted")]
    WithoutArticle {
        /// The article that is not there.
        article_id: ArticleId,
        /// What is left of it.
        part: ArticlePart,
    },
    /// Something of an article that is there is marked as deleted, so that nobody can add to it.
    #[error("article {article_id} is there, and its {part} are marked as deleted")]
    MarkedAsGone {
        /// The article.
        article_id: ArticleId,
        /// What is marked.
        part: ArticlePart,
    },
    /// A view count differs from its events, or should not be there.
    #[error(transparent)]
    View(#[from] ViewFinding),
    /// A score or a list of hot articles differs from its counts.
    #[error(transparent)]
    Hot(#[from] HotFinding),
    /// A like counter differs from its rows.
    #[error("article {article_id} counts {counted} likes and has {rows}")]
    LikeCount {
        /// The article.
        article_id: ArticleId,
        /// What the counter says.
        counted: i64,
        /// Rows there are.
        rows: i64,
    },
    /// An article has likes and no counter.
    #[error("article {article_id} has {rows} likes and no counter")]
    UncountedLikes {
        /// The article.
        article_id: ArticleId,
        /// Rows there are.
        rows: i64,
    },
    /// The newest event of an article's likes does not report its counter as it stands.
    #[error("article {article_id} was last reported with {} likes at version {} and {}", .reported.0, .reported.1, counter(*.stored))]
    LikeEventDiffers {
        /// The article.
        article_id: ArticleId,
        /// Count and version in the event.
        reported: (u64, u64),
        /// Count and version stored; `None` when there is no counter.
        stored: Option<(u64, u64)>,
    },
    /// The database found its own file damaged.
    #[error("database file: {message}")]
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

fn version(version: Option<u64>) -> String {
    version.map_or("deleted".to_owned(), |version| format!("version {version}"))
}

fn counter(stored: Option<(u64, u64)>) -> String {
    stored.map_or("has no counter".to_owned(), |(count, version)| format!("has {count} at version {version}"))
}
