//! Questions: phrases as an expression of the full-text index, every token of it in quotes, and hits in the order asked.

use madang_board::ArticleId;
use madang_engine_sqlite::{Statements as _, limit};
use madang_kernel::{Id, StoreError};
use madang_search::{Cursor, Found, Hit, Kind, NEWEST_MAX, Order, Query, RELEVANT_MAX, SearchRequest};
use rusqlite::types::ToSql;
use rusqlite::{Connection, Row};

use super::generation::{Generation, State};
use super::{kind, kind_number};

/// Of a word that is everywhere, so many of the newest hits are compared by relevance: the rank of each has to be computed
/// before the best are known.
const RANKED_MAX: usize = 20_000;

/// A row that was found.
struct Matched {
    id: i64,
    kind: Kind,
    article_id: ArticleId,
}

pub(super) fn search(reader: &Connection, request: &SearchRequest) -> Result<Found, StoreError> {
    let State { active, building, .. } = State::read(reader)?;
    let expression = expression(&request.query);
    let (hits, is_all) = match request.order {
        Order::Newest => newest(reader, active, &expression, request)?,
        Order::Relevance => relevant(reader, active, &expression, request)?,
    };
    Ok(Found { hits, is_all, partial: building.is_some() })
}

/// Phrases joined by AND. Tokens hold neither quotes nor spaces; a quote is doubled all the same.
fn expression(query: &Query) -> String {
    let mut expression = String::new();
    for phrase in query.phrases() {
        if !expression.is_empty() {
            expression.push_str(" AND ");
        }
        expression.push('"');
        expression.push_str(&phrase.tokens.join(" ").replace('"', "\"\""));
        expression.push('"');
        if phrase.is_prefix {
            expression.push_str(" *");
        }
    }
    expression
}

fn newest(
    reader: &Connection,
    active: Generation,
    expression: &str,
    request: &SearchRequest,
) -> Result<(Vec<Hit>, bool), StoreError> {
    let (depth, below) = match request.after {
        Some(Cursor::Newest { depth, id }) => (depth, id),
        _ => (0, i64::MAX),
    };
    let most = request.limit.min(NEWEST_MAX.saturating_sub(depth));
    let mut rows: Vec<Matched> = matching(reader, active.sql().newest, expression, below, request, most + 1, row)?;
    let is_all = rows.len() <= most;
    rows.truncate(most);
    let hit = |(at, Matched { id, kind, article_id }): (usize, Matched)| Hit {
        kind,
        id,
        article_id,
        cursor: Cursor::Newest { depth: depth + at + 1, id },
    };
    Ok((rows.into_iter().enumerate().map(hit).collect(), is_all))
}

fn relevant(
    reader: &Connection,
    active: Generation,
    expression: &str,
    request: &SearchRequest,
) -> Result<(Vec<Hit>, bool), StoreError> {
    let nth = |row: &Row<'_>| row.get::<_, i64>(0);
    let oldest = reader.find(active.sql().nth_newest, (expression, limit(RANKED_MAX)), nth)?.unwrap_or(i64::MIN);
    let ranked = |row: &Row<'_>| Ok((row.get::<_, f64>(3)?, self::row(row)?));
    let sql = active.sql().relevant;
    let mut rows: Vec<(f64, Matched)> = matching(reader, sql, expression, oldest, request, RELEVANT_MAX, ranked)?;
    rows.sort_by(|(one, one_row), (other, other_row)| one.total_cmp(other).then(other_row.id.cmp(&one_row.id)));
    let (depth, first) = match request.after {
        Some(Cursor::Relevance { depth, score_bits, id }) => {
            let last = f64::from_bits(score_bits);
            (depth, rows.partition_point(|(score, row)| *score < last || (*score == last && row.id >= id)))
        }
        _ => (0, 0),
    };
    let is_all = rows.len() <= first + request.limit;
    let hit = |(at, (score, Matched { id, kind, article_id })): (usize, (f64, Matched))| {
        let cursor = Cursor::Relevance { depth: depth + at + 1, score_bits: score.to_bits(), id };
        Hit { kind, id, article_id, cursor }
    };
    Ok((rows.into_iter().skip(first).take(request.limit).enumerate().map(hit).collect(), is_all))
}

/// Columns: id, kind, article.
fn row(row: &Row<'_>) -> rusqlite::Result<Matched> {
    Ok(Matched { id: row.get(0)?, kind: kind(row.get(1)?), article_id: ArticleId::from_raw(row.get(2)?) })
}

fn matching<T>(
    reader: &Connection,
    sql: &str,
    expression: &str,
    bound: i64,
    request: &SearchRequest,
    most: usize,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let filters = &request.filters;
    let values: [&dyn ToSql; 8] = [
        &expression,
        &bound,
        &filters.kind.map(kind_number),
        &filters.board_id.map(Id::raw),
        &filters.writer_id.map(Id::raw),
        &filters.since.map(|since| since.as_millis()),
        &filters.until.map(|until| until.as_millis()),
        &limit(most),
    ];
    reader.list(sql, &values[..], read)
}
