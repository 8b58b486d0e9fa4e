//! Hot articles: the lists of the last days, with titles from the query model by one multi-get.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use madang_article_read::ReadArticle;
use madang_board::{ArticleId, BoardId};
use madang_hot_article::{Day, HotItem, HotList};
use madang_server::CachedBody;
use serde::Serialize;
use utoipa::ToSchema;

use crate::ApiError;
use crate::extract::Reader;
use crate::openapi::IdText;
use crate::reply::{self, Audience};
use crate::state::{HotCalls, Shared};

/// About how long the list of a day is as JSON.
const DAY_BYTES_HINT: usize = 3_072;

/// The best articles of a day.
#[derive(Serialize, ToSchema)]
#[schema(as = HotDay)]
pub(crate) struct DayBody<'a> {
    /// The day, in the site's time zone.
    #[schema(format = Date, example = "2026-03-01")]
    date: String,
    /// Whether nothing but a deletion can change the list any more.
    #[schema(example = false)]
    r#final: bool,
    /// Best first, ten at most.
    items: Vec<ItemBody<'a>>,
}

/// An article in the list of a day, with the counts of that day.
#[derive(Serialize, ToSchema)]
#[schema(as = HotArticle)]
pub(crate) struct ItemBody<'a> {
    /// 1 for the best.
    #[schema(example = 1)]
    rank: u32,
    #[schema(value_type = IdText)]
    article_id: ArticleId,
    #[schema(value_type = IdText)]
    board_id: BoardId,
    /// The headline.
    #[schema(example = "Where do we meet on Sunday?")]
    title: &'a str,
    /// 3 for a like, 2 for a comment, 1 for a view.
    #[schema(example = 389)]
    score: u64,
    /// Members who began to like it that day.
    #[schema(example = 12)]
    like_count: u64,
    /// Comments of that day.
    #[schema(example = 4)]
    comment_count: u64,
    /// Views of that day.
    #[schema(example = 345)]
    view_count: u64,
}

/// The lists of the last seven days.
#[derive(Serialize, ToSchema)]
#[schema(as = HotDays)]
pub(crate) struct DaysBody<'a> {
    /// Newest first.
    days: Vec<DayBody<'a>>,
}

/// The hot articles of today and the six days before.
#[utoipa::path(
    get, path = "/api/v1/hot-articles", operation_id = "list_hot_days", tag = "articles",
    responses(
        (status = 200, description = "The lists, newest day first", body = DaysBody),
    ),
)]
pub(crate) async fn days(State(api): State<Shared<HotCalls>>, reader: Reader) -> Result<Response, ApiError> {
    let load = async {
        let lists = api.hot.days().await?;
        let articles = articles(&api, &lists).await?;
        let days: Vec<_> = lists.into_iter().map(|list| day_body(list, &articles)).collect();
        let bytes_hint = days.len() * DAY_BYTES_HINT;
        let json = reply::encode(&DaysBody { days }, bytes_hint)?;
        Ok(Arc::new(CachedBody::fixed(json.into(), reply::JSON, None)))
    };
    // Those who share a load share its compressed bytes.
    let days = api.days.load(load).await?;
    Ok(reply::cached(&reader, &days))
}

/// The hot articles of one day.
#[utoipa::path(
    get, path = "/api/v1/hot-articles/{date}", operation_id = "read_hot_day", tag = "articles",
    params(("date" = String, Path, format = Date, description = "The day, as yyyy-mm-dd in the site's time zone")),
    responses(
        (status = 200, description = "The list", body = DayBody),
    ),
)]
pub(crate) async fn day(
    State(api): State<Shared<HotCalls>>,
    Path(date): Path<String>,
    reader: Reader,
) -> Result<Response, ApiError> {
    let date: Day = date.parse().map_err(|_| NO_LIST)?;
    let list = api.hot.day(date).await?.ok_or(NO_LIST)?;
    let articles = articles(&api, std::slice::from_ref(&list)).await?;
    reply::read(&reader, Audience::Everybody, &day_body(list, &articles), DAY_BYTES_HINT).await
}

const NO_LIST: ApiError =
    ApiError::NotFound("list of hot articles: there is one for today and each of the six days before");

/// Everything the lists name that is still there.
async fn articles(api: &HotCalls, lists: &[HotList]) -> Result<HashMap<ArticleId, ReadArticle>, ApiError> {
    let ids: Vec<_> = lists.iter().flat_map(|list| &list.items).map(|item| item.article_id).collect();
    let read = api.read.articles(&ids).await?;
    Ok(ids.into_iter().zip(read).filter_map(|(id, read)| Some((id, read?))).collect())
}

fn day_body(list: HotList, articles: &HashMap<ArticleId, ReadArticle>) -> DayBody<'_> {
    let HotList { date, is_final, items } = list.shown(|article| articles.contains_key(&article));
    let ranked = (1_u32..).zip(items);
    let items = ranked.filter_map(|(rank, item)| {
        let HotItem { article_id, score, like_count, comment_count, view_count } = item;
        let head = &articles.get(&article_id)?.text.head;
        let (board_id, title) = (head.board_id, head.title.as_str());
        Some(ItemBody { rank, article_id, board_id, title, score, like_count, comment_count, view_count })
    });
    DayBody { date: date.to_string(), r#final: is_final, items: items.collect() }
}
