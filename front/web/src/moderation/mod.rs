//! What moderators see: what was reported, what was settled, and what was done. A moderator of boards sees one board at a
//! time, a moderator of the site everything.

mod subject;
mod view;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::BoardWithCount;
use madang_board::{BoardId, ReportId, Role};
use madang_kernel::PageSize;
use maud::Markup;
use serde::Deserialize;

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::flash::Flash;
use crate::layout::{NavEntry, Page, whole};
use crate::posted::Posted;
use crate::query::{LenientQuery, cursor};
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// Where in the lists, as query parameters.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ModerationQuery {
    board: Option<BoardId>,
    before: Option<String>,
    #[serde(default)]
    settled: bool,
}

/// Which list is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Open,
    Settled,
    Log,
}

/// What the page shows.
struct Listing {
    list: List,
    /// One board, or all of the site.
    board: Option<BoardId>,
    /// The boards that the reader may choose from.
    boards: Vec<BoardWithCount>,
}

/// Reports: open ones, or settled ones.
pub(crate) async fn reports(
    State(web): State<Shared>,
    visit: Visit,
    LenientQuery(query): LenientQuery<ModerationQuery>,
) -> Result<Response, Refused> {
    let list = if query.settled { List::Settled } else { List::Open };
    let main = listed(&web, &visit, list, &query).await;
    main.map(|main| show(&web, &visit, main)).or_refuse(&web, &visit)
}

/// What moderators did.
pub(crate) async fn log(
    State(web): State<Shared>,
    visit: Visit,
    LenientQuery(query): LenientQuery<ModerationQuery>,
) -> Result<Response, Refused> {
    let main = listed(&web, &visit, List::Log, &query).await;
    main.map(|main| show(&web, &visit, main)).or_refuse(&web, &visit)
}

/// Settles a report.
pub(crate) async fn settle(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    match settled(&web, &posted, &id).await {
        Ok(board) => {
            let query = if posted.visit.has(Role::Moderator) { String::new() } else { format!("?board={board}") };
            let there = reply::see_other(&format!("/moderation{query}"));
            Ok(Flash::ReportSettled.leave(there, posted.visit.cookies_secure))
        }
        Err(error) => Err(error.refuse(&web, &posted.visit)),
    }
}

async fn settled(web: &Web, posted: &Posted, id: &str) -> Result<BoardId, WebError> {
    let id: ReportId = id.parse().map_err(|_| WebError::NotFound)?;
    let session = posted.session()?;
    let note = Some(posted.fields.text("note").trim()).filter(|note| !note.is_empty());
    let report = web.site.moderation.resolve(&session.actor, id, note).await?;
    Ok(report.ok_or(WebError::NotFound)?.board_id)
}

async fn listed(web: &Web, visit: &Visit, list: List, query: &ModerationQuery) -> Result<Markup, WebError> {
    let actor = visit.actor().ok_or(WebError::NotSignedIn)?;
    if !visit.moderates() {
        return Err(WebError::Forbidden);
    }
    let of_site = actor.role >= Role::Moderator;
    let boards = web.boards.all().await?;
    let is_theirs = |found: &&BoardWithCount| of_site || actor.moderates.contains(&found.board.board_id);
    let boards: Vec<_> = boards.iter().filter(is_theirs).cloned().collect();
    // Who moderates boards starts with the first of them.
    let board = query.board.or_else(|| boards.first().filter(|_| !of_site).map(|found| found.board.board_id));
    let listing = Listing { list, board, boards };
    let (moderation, size, before) = (&web.site.moderation, PageSize::DEFAULT, query.before.as_deref());
    Ok(match list {
        List::Log => view::log(web, visit, &listing, &moderation.log(actor, board, cursor(before)?, size).await?),
        List::Open | List::Settled => {
            let found = moderation.reports(actor, list == List::Open, board, cursor(before)?, size).await?;
            let subjects = subject::subjects(web, &found.items).await?;
            view::reports(web, visit, &listing, &found, &subjects)
        }
    })
}

fn show(web: &Web, visit: &Visit, main: Markup) -> Response {
    let (title, nav) = (visit.texts().moderation, NavEntry::Moderation);
    let page = Page { title, main, is_listed: false, nav, ..Page::default() };
    reply::page(visit, StatusCode::OK, whole(web, visit, &page))
}
