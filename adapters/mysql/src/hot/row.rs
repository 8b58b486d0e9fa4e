//! A tally as columns, and back; and where a day is.

use madang_board::ArticleId;
use madang_engine_mysql::{Cells, SqlError, Values};
use madang_hot_article::{Counts, Day, HotItem, Reading, Tally};
use madang_kernel::{Id, ShardId};

/// The shard that holds all rows of a day: days are spread as the parts of articles are.
pub(crate) fn shard_of(day: Day) -> ShardId {
    ShardId::of_parts(ArticleId::from_raw(day.number()))
}

/// The primary key of a day, and what leads every other key.
pub(crate) fn key(day: Day) -> Values {
    vec![shard_of(day).number().into(), day.number().into()]
}

/// The primary key of an article's score.
pub(super) fn article_key(day: Day, article: ArticleId) -> Values {
    let mut values = key(day);
    values.push(article.raw().into());
    values
}

/// Columns: article, then three counts, each with its version, whether the article is gone, and whether it is hidden, with
/// the version of that.
pub(crate) fn tally(cells: &mut Cells) -> Result<(ArticleId, Tally), SqlError> {
    let article = ArticleId::from_raw(cells.next()?);
    let mut reading = || Ok::<_, SqlError>(Reading::new(cells.next()?, cells.next()?));
    let (likes, comments, views) = (reading()?, reading()?, reading()?);
    let is_gone: bool = cells.next()?;
    let hidden = Reading::new(cells.next()?, cells.next()?);
    Ok((article, if is_gone { Tally::Gone } else { Tally::Live(Counts { likes, comments, views, hidden }) }))
}

/// An article's row.
pub(super) fn values(day: Day, article: ArticleId, tally: Tally) -> Values {
    let (Counts { likes, comments, views, hidden }, deleted) = match tally {
        Tally::Live(counts) => (counts, false),
        Tally::Gone => (Counts::default(), true),
    };
    let mut values = article_key(day, article);
    for reading in [likes, comments, views] {
        values.extend([reading.count().into(), reading.version().into()]);
    }
    values.extend([deleted.into(), hidden.count().into(), hidden.version().into(), falling_score(tally).into()]);
    values
}

/// The score below zero. Counts are bounded, so that every score has its negative.
pub(crate) fn falling_score(tally: Tally) -> i64 {
    -tally.score().cast_signed()
}

/// Columns: article, score, likes, comments, views.
pub(super) fn item(mut cells: Cells) -> Result<HotItem, SqlError> {
    Ok(HotItem {
        article_id: ArticleId::from_raw(cells.next()?),
        score: cells.next()?,
        like_count: cells.next()?,
        comment_count: cells.next()?,
        view_count: cells.next()?,
    })
}
