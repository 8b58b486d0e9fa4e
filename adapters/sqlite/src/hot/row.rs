//! A tally as columns, and back.

use madang_board::ArticleId;
use madang_engine_sqlite::{PART, Statements as _, limit, sql_error};
use madang_hot_article::{Counts, Day, Reading, Tally};
use madang_kernel::{Id, StoreError};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

const FIND: &str = include_str!("../../sql/hot/find.sql");
const TALLIES_AFTER: &str = include_str!("../../sql/hot/tallies_after.sql");
const STORE: &str = include_str!("../../sql/hot/store.sql");

/// How many columns [`tally`] reads.
pub(crate) const COUNT_COLUMNS: usize = 9;

/// The tally in the first columns: three counts, each with its version, whether the article is gone, and whether it is
/// hidden, with the version of that.
pub(crate) fn tally(row: &Row<'_>) -> rusqlite::Result<Tally> {
    if row.get(6)? {
        return Ok(Tally::Gone);
    }
    let reading = |column| Ok::<_, rusqlite::Error>(Reading::new(number(row, column)?, number(row, column + 1)?));
    let (likes, comments, views) = (reading(0)?, reading(2)?, reading(4)?);
    Ok(Tally::Live(Counts { likes, comments, views, hidden: reading(7)? }))
}

/// The rows of a batch: looked up once, the statements serve all of it.
pub(super) struct Rows<'tx> {
    find: CachedStatement<'tx>,
    store: CachedStatement<'tx>,
}

impl<'tx> Rows<'tx> {
    pub(super) fn open(tx: &'tx Connection) -> Result<Self, StoreError> {
        Ok(Self {
            find: tx.prepare_cached(FIND).map_err(sql_error)?,
            store: tx.prepare_cached(STORE).map_err(sql_error)?,
        })
    }

    pub(super) fn find(&mut self, day: Day, article: ArticleId) -> Result<Option<Tally>, StoreError> {
        self.find.query_row([day.number(), article.raw()], tally).optional().map_err(sql_error)
    }

    pub(super) fn store(&mut self, day: Day, article: ArticleId, tally: Tally) -> Result<(), StoreError> {
        let (counts, deleted) = match tally {
            Tally::Live(counts) => (counts, false),
            Tally::Gone => (Counts::default(), true),
        };
        let Counts { likes, comments, views, hidden } = counts;
        let stored = self.store.execute([
            day.number(),
            article.raw(),
            likes.count().cast_signed(),
            likes.version().cast_signed(),
            comments.count().cast_signed(),
            comments.version().cast_signed(),
            views.count().cast_signed(),
            views.version().cast_signed(),
            i64::from(deleted),
            tally.score().cast_signed(),
            hidden.count().cast_signed(),
            hidden.version().cast_signed(),
        ]);
        stored.map(|_| ()).map_err(sql_error)
    }
}

/// What is known of articles of a day, in the order asked.
pub(super) fn tallies(tx: &Connection, day: Day, articles: &[ArticleId]) -> Result<Vec<Tally>, StoreError> {
    let mut rows = Rows::open(tx)?;
    articles.iter().map(|article| Ok(rows.find(day, *article)?.unwrap_or_default())).collect()
}

/// What is known of the articles of a day after one of them.
pub(super) fn tallies_after(
    tx: &Connection,
    day: Day,
    after: Option<ArticleId>,
    slice: usize,
) -> Result<Vec<(ArticleId, Tally)>, StoreError> {
    let after = after.map_or(i64::MIN, Id::raw);
    let read = |row: &Row<'_>| Ok((ArticleId::from_raw(row.get(COUNT_COLUMNS)?), tally(row)?));
    tx.list(TALLIES_AFTER, [day.number(), after, limit(slice.max(1))], read)
}

/// A column that holds no negative number.
pub(super) fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let value = row.get::<_, i64>(column)?;
    u64::try_from(value).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, value))
}

/// The day that a column names.
pub(super) fn day(number: i64) -> Result<Day, StoreError> {
    Day::from_number(number).ok_or_else(|| StoreError::broken(PART, format!("{number} is no day")))
}
