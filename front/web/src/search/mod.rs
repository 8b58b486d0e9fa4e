//! Search: what somebody looks for, and what was found. Works by addresses alone, so that a search can be kept and sent on.

mod description;
mod view;

use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use madang_board::{BoardId, MemberId};
use madang_kernel::{Invalid, Timestamp};
use madang_member::MemberError;
use madang_search::{Cursor, Filters, Kind, LIMIT_DEFAULT, Order, Query, SearchError, SearchPage, SearchRequest};
use serde::Deserialize;

pub(crate) use description::{ADDRESS, MEDIA_TYPE, description};

use crate::error::{Limit, OrRefuse as _, Refused, WebError};
use crate::layout::unlisted;
use crate::query::LenientQuery;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// What the form and the links of the page say.
#[derive(Debug, Default, Clone, Deserialize)]
pub(crate) struct SearchForm {
    #[serde(default)]
    q: String,
    kind: Option<String>,
    sort: Option<String>,
    board_id: Option<String>,
    writer_id: Option<String>,
    period: Option<String>,
    after: Option<String>,
}

/// How long ago something may have been written.
const PERIODS: [(&str, u64); 4] = [("day", 1), ("week", 7), ("month", 31), ("year", 366)];

/// What there is to show.
enum Outcome {
    /// Nothing was asked for yet.
    Nothing,
    /// What was asked for is too long.
    TooLong,
    /// What was found.
    Found(SearchPage),
    /// No site without an engine can be searched.
    NotConfigured,
    /// The index does not answer.
    Away,
}

impl Outcome {
    fn status(&self) -> StatusCode {
        match self {
            Self::Nothing | Self::Found(_) => StatusCode::OK,
            Self::TooLong => StatusCode::UNPROCESSABLE_ENTITY,
            Self::NotConfigured | Self::Away => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// The page.
pub(crate) async fn search(
    State(web): State<Shared>,
    visit: Visit,
    LenientQuery(form): LenientQuery<SearchForm>,
) -> Result<Response, Refused> {
    let outcome = outcome(&web, &visit, &form).await.or_refuse(&web, &visit)?;
    let writer = writer(&web, &form).await.or_refuse(&web, &visit)?;
    let boards = web.boards.all().await.or_refuse(&web, &visit)?;
    let status = outcome.status();
    let (title, main) = view::page(&web, &visit, &form, &outcome, writer.as_deref(), &boards);
    let mut response = unlisted(&web, &visit, status, &title, main);
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let seconds = if matches!(outcome, Outcome::Away) { "1" } else { "3600" };
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static(seconds));
    }
    Ok(response)
}

async fn outcome(web: &Web, visit: &Visit, form: &SearchForm) -> Result<Outcome, WebError> {
    if form.q.trim().is_empty() {
        return Ok(Outcome::Nothing);
    }
    let Ok(request) = request(web, form) else { return Ok(Outcome::TooLong) };
    if let Some(limiter) = &web.site.policy.limiter {
        let admitted = limiter.admit_search(visit.address, visit.actor().map(|actor| actor.member_id)).await;
        admitted.map_err(|rejection| WebError::of_rejection(&rejection, Limit::Requests))?;
    }
    match web.site.search.search(request).await {
        Ok(page) => Ok(Outcome::Found(page)),
        Err(SearchError::NotConfigured) => Ok(Outcome::NotConfigured),
        Err(SearchError::Store(error)) => match WebError::from(error) {
            WebError::Unavailable => Ok(Outcome::Away),
            other => Err(other),
        },
    }
}

/// Leniently: what cannot be read counts as left out, and a cursor of another list starts at the first.
fn request(web: &Web, form: &SearchForm) -> Result<SearchRequest, Invalid> {
    let order = match form.sort.as_deref() {
        Some("newest") => Order::Newest,
        _ => Order::Relevance,
    };
    let after = form.after.as_deref().and_then(|after| after.parse::<Cursor>().ok());
    Ok(SearchRequest {
        query: Query::parse(&form.q)?,
        filters: form.filters(web.site.clock.now()),
        order,
        after: after.filter(|after| after.order() == order),
        limit: LIMIT_DEFAULT,
    })
}

impl SearchForm {
    fn filters(&self, now: Timestamp) -> Filters {
        let kind = match self.kind.as_deref() {
            Some("article") => Some(Kind::Article),
            Some("comment") => Some(Kind::Comment),
            _ => None,
        };
        let days = PERIODS.iter().find(|(name, _)| self.period.as_deref() == Some(name)).map(|(_, days)| *days);
        let ago = |days: u64| {
            let span = Duration::from_secs(days * 86_400).as_millis();
            Timestamp::from_millis(now.as_millis() - i64::try_from(span).unwrap_or(i64::MAX))
        };
        Filters { kind, board_id: self.board(), writer_id: self.writer(), since: days.map(ago), until: None }
    }

    fn board(&self) -> Option<BoardId> {
        self.board_id.as_deref()?.parse().ok()
    }

    fn writer(&self) -> Option<MemberId> {
        self.writer_id.as_deref()?.parse().ok()
    }
}

/// The name of the member whose texts are searched, if it is one's.
async fn writer(web: &Web, form: &SearchForm) -> Result<Option<String>, WebError> {
    let Some(member) = form.writer() else { return Ok(None) };
    match web.site.members.get(member).await {
        Ok(member) => Ok(Some(member.name)),
        Err(MemberError::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
