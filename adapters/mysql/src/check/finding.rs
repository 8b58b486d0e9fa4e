//! What can be wrong, as values that a person can read and a program can count.

use std::fmt;

use madang_board::{ArticleId, BoardId, CommentId};
use madang_hot_article::Day;

/// One difference between what is counted and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckFinding {
    /// A board of the directory without a counter.
    NoCounter {
        /// The board.
        board_id: BoardId,
    },
    /// A board's counter differs from its rows.
    BoardCount {
        /// The board.
        board_id: BoardId,
        /// What the counter says.
        counted: u64,
        /// Rows there are.
        rows: u64,
    },
    /// A counter that has changed fewer times than it counts.
    CountVersion {
        /// The board.
        board_id: BoardId,
        /// What the counter says.
        counted: u64,
        /// How often it has changed.
        version: u64,
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
        level: u8,
        /// Where the block starts.
        first_id: i64,
        /// What the block says.
        counted: u64,
        /// Rows there are.
        rows: u64,
    },
    /// Rows lie before every block of a level.
    Uncounted {
        /// The board.
        board_id: BoardId,
        /// 1 for blocks, 2 for super-blocks.
        level: u8,
        /// Rows before the first block.
        rows: u64,
    },
    /// A super-block starts where no block starts, so a page would be looked for in the wrong one.
    Boundary {
        /// The board.
        board_id: BoardId,
        /// Where the super-block starts.
        first_id: i64,
    },
    /// There are articles of a board that has no counter where they are.
    StrayArticles {
        /// The board.
        board_id: BoardId,
    },
    /// The counts of an article's comments differ from its rows.
    CommentCount {
        /// The article.
        article_id: ArticleId,
        /// What the counter says: visible comments, rows.
        counted: [u64; 2],
        /// What there is: visible comments, rows.
        rows: [u64; 2],
    },
    /// A counter of comments that has changed fewer times than it counts, or holds a greater id than it knows of.
    CommentCountVersion {
        /// The article.
        article_id: ArticleId,
        /// How often the counter has changed.
        version: u64,
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
    /// A like counter differs from its rows.
    LikeCount {
        /// The article.
        article_id: ArticleId,
        /// What the counter says.
        counted: u64,
        /// Rows there are.
        rows: u64,
    },
    /// An article has likes and no counter.
    UncountedLikes {
        /// The article.
        article_id: ArticleId,
        /// Rows there are.
        rows: u64,
    },
    /// A count of an article whose views are gone.
    ViewCountOfGone {
        /// The article.
        article_id: ArticleId,
        /// What the counter says.
        counted: u64,
    },
    /// A view counter that has changed more often than it counts, although each change adds a view.
    ViewCountVersion {
        /// The article.
        article_id: ArticleId,
        /// What the counter says.
        counted: u64,
        /// How often it has changed.
        version: u64,
    },
    /// A score differs from its counts.
    HotScore {
        /// The day.
        day: Day,
        /// The article.
        article_id: ArticleId,
        /// What is stored.
        stored: i64,
        /// What the counts give.
        counted: i64,
    },
    /// A kept list of a day that is not final.
    HotListWithoutMark {
        /// The day in digits.
        day: i64,
    },
    /// A kept list differs from the scores of its day.
    HotListDiffers {
        /// The day.
        day: Day,
        /// The place of the first difference, from 1.
        place: usize,
        /// What the list has there.
        listed: ArticleId,
        /// What the scores have there.
        scored: Option<ArticleId>,
    },
    /// Something of an article that is neither there nor known to be deleted.
    WithoutArticle {
        /// The article that is not there.
        article_id: ArticleId,
        /// What is left of it: comments, likes or views.
        part: &'static str,
    },
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
            Self::StrayArticles { board_id } => write!(f, "board {board_id} has articles and no counter beside them"),
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
            Self::LikeCount { article_id, counted, rows } => {
                write!(f, "article {article_id} counts {counted} likes and has {rows}")
            }
            Self::UncountedLikes { article_id, rows } => {
                write!(f, "article {article_id} has {rows} likes and no counter")
            }
            Self::ViewCountOfGone { article_id, counted } => {
                write!(f, "article {article_id} is gone and still counts {counted} views")
            }
            Self::ViewCountVersion { article_id, counted, version } => {
                write!(f, "article {article_id} counts {counted} views after {version} changes of one view or more")
            }
            Self::HotScore { day, article_id, stored, counted } => {
                write!(f, "article {article_id} of day {day} has a score of {stored} and counts {counted}")
            }
            Self::HotListWithoutMark { day } => write!(f, "the list of {day} is kept, and the day is not final"),
            Self::HotListDiffers { day, place, listed, scored } => {
                write!(f, "place {place} of the list of {day} is article {listed}, and by its scores ")?;
                match scored {
                    Some(scored) => write!(f, "article {scored}"),
                    None => f.write_str("nobody's"),
                }
            }
            Self::WithoutArticle { article_id, part } => {
                write!(f, "article {article_id} is neither there nor marked as deleted, and its {part} are counted")
            }
        }
    }
}
