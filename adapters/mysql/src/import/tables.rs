//! Where each row of a site that moves here belongs, and as which columns: what is one file elsewhere is spread over
//! databases and shards here.

use std::sync::LazyLock;

use madang_board::{ActId, ActKind, ArticleId, BoardId, CommentId};
use madang_engine_mysql::{Many, PART, Values};
use madang_hot_article::Day;
use madang_kernel::{Id, ShardId, StoreError};
use mysql_async::Value;

use crate::Service;
use crate::hot;

/// A value of a row that moves here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportCell {
    /// Nothing.
    Null,
    /// A number, an id, a moment in milliseconds.
    Int(i64),
    /// A text or bytes.
    Bytes(Vec<u8>),
}

/// A table that a site brings with it, by the name it has there and here.
#[derive(Clone, Copy)]
pub struct ImportTable {
    name: &'static str,
    many: &'static LazyLock<Many>,
    place: fn(&[ImportCell]) -> Result<Place, StoreError>,
}

/// The database and the shard of a row.
type Place = (Service, ShardId);

/// A row with all of its columns, where it belongs.
pub(super) struct PlacedRow {
    pub(super) service: Service,
    pub(super) shard: ShardId,
    pub(super) values: Values,
}

macro_rules! many {
    ($($name:ident = $file:literal;)+) => {
        $(static $name: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!(concat!("../../", $file))));)+
    };
}

many! {
    MEMBER = "sql/member/import.sql";
    REVOCATION = "sql/member/import_revocations.sql";
    ACT = "sql/moderation/import_acts.sql";
    REPORT = "sql/moderation/import_reports.sql";
    BOARD = "sql/article/import_boards.sql";
    BOARD_COUNT = "sql/article/import_counts.sql";
    BLOCK = "sql/article/import_blocks.sql";
    ARTICLE = "sql/article/import.sql";
    PIN = "sql/article/import_pins.sql";
    ARTICLE_REMOVED = "sql/article/import_removed.sql";
    ONCE = "sql/idempotency/import.sql";
    COMMENT = "sql/comment/import.sql";
    COMMENT_REMOVED = "sql/comment/import_removed.sql";
    COMMENT_COUNT = "sql/comment/import_counts.sql";
    COMMENT_GONE = "sql/comment/import_gone.sql";
    LIKE = "sql/like/import.sql";
    LIKE_COUNT = "sql/like/import_counts.sql";
    LIKE_GONE = "sql/like/import_gone.sql";
    VIEW_COUNT = "sql/view/import_counts.sql";
    VIEW_GONE = "sql/view/import_gone.sql";
    HOT_DAY = "sql/hot/import_days.sql";
    HOT_SCORE = "sql/hot/import_scores.sql";
    HOT_FINAL = "sql/hot/import_lists.sql";
}

const HOT_SCORES: &str = "hot_score";

const TABLES: &[ImportTable] = &[
    table("member", &MEMBER, |_| Ok((Service::Member, ShardId::HOME))),
    table("revocation", &REVOCATION, |_| Ok((Service::Member, ShardId::HOME))),
    table("moderation_act", &ACT, of_act),
    table("report", &REPORT, |_| Ok((Service::Member, ShardId::HOME))),
    table("board", &BOARD, |_| Ok((Service::Article, ShardId::HOME))),
    table("board_article_count", &BOARD_COUNT, |row| of_board(row, 0)),
    table("article_block", &BLOCK, |row| of_board(row, 0)),
    table("article", &ARTICLE, of_article),
    table("article_pin", &PIN, of_article),
    table("article_removed", &ARTICLE_REMOVED, of_article),
    table("once_answer", &ONCE, of_answer),
    table("comment", &COMMENT, of_comment),
    table("comment_removed", &COMMENT_REMOVED, of_comment),
    table("article_comment_count", &COMMENT_COUNT, |row| of_parts(Service::Comment, row)),
    table("comment_article_gone", &COMMENT_GONE, |row| of_parts(Service::Comment, row)),
    table("article_like", &LIKE, |row| of_parts(Service::Like, row)),
    table("article_like_count", &LIKE_COUNT, |row| of_parts(Service::Like, row)),
    table("like_article_gone", &LIKE_GONE, |row| of_parts(Service::Like, row)),
    table("article_view_count", &VIEW_COUNT, |row| of_parts(Service::View, row)),
    table("view_article_gone", &VIEW_GONE, |row| of_parts(Service::View, row)),
    table("hot_day", &HOT_DAY, of_day),
    table(HOT_SCORES, &HOT_SCORE, of_day),
    table("hot_final", &HOT_FINAL, of_day),
];

const fn table(
    name: &'static str,
    many: &'static LazyLock<Many>,
    place: fn(&[ImportCell]) -> Result<Place, StoreError>,
) -> ImportTable {
    ImportTable { name, many, place }
}

impl ImportTable {
    /// The table of this name; `None` when nothing of it can be brought here.
    pub fn named(name: &str) -> Option<Self> {
        TABLES.iter().find(|table| table.name == name).copied()
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.name
    }

    pub(super) fn many(self) -> &'static Many {
        self.many
    }

    /// A row as it is kept here. Columns come in the order of the statement, the key first, without the shard.
    pub(super) fn place(self, row: Vec<ImportCell>) -> Result<PlacedRow, StoreError> {
        let (service, shard) = (self.place)(&row)?;
        let mut values: Values = vec![shard.number().into()];
        values.extend(row.into_iter().map(value));
        if self.name == HOT_SCORES
            && let Some(Value::Int(score)) = values.last_mut()
        {
            // Kept below zero, so that the ranking is an index in its own order.
            *score = -*score;
        }
        Ok(PlacedRow { service, shard, values })
    }

    /// The days that rows of scores belong to: whoever changes a day locks its row, so each has one.
    pub(super) fn days(self, placed: &[Values]) -> Vec<Values> {
        if self.name != HOT_SCORES {
            return Vec::new();
        }
        let mut days: Vec<Values> = Vec::new();
        for row in placed {
            let day = vec![row[0].clone(), row[1].clone(), Value::NULL];
            if days.last() != Some(&day) {
                days.push(day);
            }
        }
        days
    }

    pub(super) fn of_days() -> &'static Many {
        &HOT_DAY
    }
}

fn value(cell: ImportCell) -> Value {
    match cell {
        ImportCell::Null => Value::NULL,
        ImportCell::Int(number) => Value::Int(number),
        ImportCell::Bytes(bytes) => Value::Bytes(bytes),
    }
}

fn number(row: &[ImportCell], column: usize) -> Result<i64, StoreError> {
    match row.get(column) {
        Some(ImportCell::Int(number)) => Ok(*number),
        other => Err(StoreError::broken(PART, format!("column {column} should be a number and is {other:?}"))),
    }
}

fn of_board(row: &[ImportCell], column: usize) -> Result<Place, StoreError> {
    Ok((Service::Article, BoardId::from_raw(number(row, column)?).shard()))
}

/// An article lives where its id says, which must be where its board is.
fn of_article(row: &[ImportCell]) -> Result<Place, StoreError> {
    let (article, board) = (ArticleId::from_raw(number(row, 0)?), BoardId::from_raw(number(row, 1)?));
    if article.shard() != board.shard() {
        return Err(StoreError::broken(PART, format!("article {article} does not carry the shard of board {board}")));
    }
    Ok((Service::Article, article.shard()))
}

fn of_comment(row: &[ImportCell]) -> Result<Place, StoreError> {
    let (comment, article) = (CommentId::from_raw(number(row, 0)?), ArticleId::from_raw(number(row, 1)?));
    let shard = ShardId::of_parts(article);
    if comment.shard() != shard {
        return Err(StoreError::broken(PART, format!("comment {comment} does not carry the shard of its article")));
    }
    Ok((Service::Comment, shard))
}

/// An act lies beside what it tells of, whose shard its id carries.
fn of_act(row: &[ImportCell]) -> Result<Place, StoreError> {
    let kind = match row.get(1) {
        Some(ImportCell::Bytes(name)) => std::str::from_utf8(name).ok().and_then(ActKind::named),
        _ => None,
    };
    let service = match kind {
        Some(
            ActKind::ArticleEdited
            | ActKind::ArticleDeleted
            | ActKind::ArticleRestored
            | ActKind::ArticlePinned
            | ActKind::ArticleUnpinned,
        ) => Service::Article,
        // Whoever owns comments keeps the lock.
        Some(
            ActKind::CommentEdited
            | ActKind::CommentDeleted
            | ActKind::CommentRestored
            | ActKind::ArticleLocked
            | ActKind::ArticleUnlocked,
        ) => Service::Comment,
        Some(_) => Service::Member,
        None => return Err(StoreError::broken(PART, format!("{:?} is no act of a moderator", row.get(1)))),
    };
    Ok((service, ActId::from_raw(number(row, 0)?).shard()))
}

/// What belongs to the article in the first column.
fn of_parts(service: Service, row: &[ImportCell]) -> Result<Place, StoreError> {
    Ok((service, ShardId::of_parts(ArticleId::from_raw(number(row, 0)?))))
}

fn of_day(row: &[ImportCell]) -> Result<Place, StoreError> {
    let day = number(row, 0)?;
    let day = Day::from_number(day).ok_or_else(|| StoreError::broken(PART, format!("{day} is no day")))?;
    Ok((Service::HotArticle, hot::shard_of(day)))
}

/// An answer is kept beside what it answers: a comment, an article, or a board of the directory.
fn of_answer(row: &[ImportCell]) -> Result<Place, StoreError> {
    #[derive(serde::Deserialize)]
    struct Answer {
        comment_id: Option<CommentId>,
        article_id: Option<ArticleId>,
        board_id: Option<BoardId>,
    }
    let unknown = |reason: &str| StoreError::broken(PART, format!("an answer to an idempotency key: {reason}"));
    let Some(ImportCell::Bytes(answer)) = row.get(4) else { return Err(unknown("no bytes")) };
    let answer: Answer = serde_json::from_slice(answer).map_err(|error| unknown(&error.to_string()))?;
    match answer {
        Answer { comment_id: Some(_), article_id: Some(article), .. } => {
            Ok((Service::Comment, ShardId::of_parts(article)))
        }
        Answer { article_id: Some(_), board_id: Some(board), .. } => Ok((Service::Article, board.shard())),
        Answer { board_id: Some(_), .. } => Ok((Service::Article, ShardId::HOME)),
        Answer { .. } => Err(unknown("to what?")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(answer: &str) -> Vec<ImportCell> {
        let bytes = |text: &str| ImportCell::Bytes(text.as_bytes().to_vec());
        vec![ImportCell::Int(1), bytes("POST /x"), bytes("k"), bytes("f"), bytes(answer), ImportCell::Int(5)]
    }

    #[test]
    fn an_answer_lies_beside_what_it_answers() {
        let article = ArticleId::from_raw(77 << 16);
        let board = BoardId::from_raw((9 << 22) | (5 << 16));
        let of = |answer: String| of_answer(&row(&answer));
        let comment = of(format!(r#"{{"comment_id":"3","article_id":"{article}"}}"#)).unwrap();
        assert_eq!(comment, (Service::Comment, ShardId::of_parts(article)));
        let written = of(format!(r#"{{"article_id":"{article}","board_id":"{board}","title":"t"}}"#)).unwrap();
        assert_eq!(written, (Service::Article, board.shard()));
        let made = of(format!(r#"{{"board_id":"{board}","slug":"s"}}"#)).unwrap();
        assert_eq!(made, (Service::Article, ShardId::HOME));
        assert!(of(r#"{"member_id":"1"}"#.to_owned()).is_err());
    }

    #[test]
    fn an_act_lies_beside_what_it_tells_of() {
        let of = |kind: &str| of_act(&[ImportCell::Int(5 << 16), ImportCell::Bytes(kind.as_bytes().to_vec())]);
        assert_eq!(of(ActKind::ArticleDeleted.name()).unwrap().0, Service::Article);
        assert_eq!(of(ActKind::ArticlePinned.name()).unwrap().0, Service::Article);
        assert_eq!(of(ActKind::ArticleRestored.name()).unwrap().0, Service::Article);
        assert_eq!(of(ActKind::CommentRestored.name()).unwrap().0, Service::Comment);
        for kind in [ActKind::CommentEdited, ActKind::CommentDeleted, ActKind::ArticleLocked, ActKind::ArticleUnlocked]
        {
            assert_eq!(of(kind.name()).unwrap().0, Service::Comment);
        }
        let (service, shard) = of(ActKind::RoleGiven.name()).unwrap();
        assert_eq!((service, shard), (Service::Member, ActId::from_raw(5 << 16).shard()));
        assert!(of("cat_fed").is_err());
    }

    #[test]
    fn a_score_is_kept_below_zero() {
        let table = ImportTable::named(HOT_SCORES).unwrap();
        let row = [20_261_115, 7, 1, 1, 2, 1, 3, 1, 0, 0, 0, 10].map(ImportCell::Int).to_vec();
        let placed = table.place(row).unwrap();
        assert_eq!(placed.values.last(), Some(&Value::Int(-10)));
        assert_eq!(table.days(&[placed.values.clone(), placed.values]).len(), 1, "one row for each day");
    }

    #[test]
    fn an_article_that_does_not_carry_the_shard_of_its_board_is_refused() {
        let row = |article: i64, board: i64| [ImportCell::Int(article), ImportCell::Int(board)];
        assert!(of_article(&row(5 << 16, (1 << 22) | (5 << 16))).is_ok());
        assert!(of_article(&row(5 << 16, (1 << 22) | (6 << 16))).is_err());
    }
}
