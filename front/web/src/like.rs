//! Liking an article by a form, for those without a script; the script asks the API and does not leave the page.

use axum::extract::{Path, State};
use axum::response::Response;
use madang_board::ArticleId;

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::posted::Posted;
use crate::reply;
use crate::state::{Shared, Web};

/// Likes, or no longer.
pub(crate) async fn submit(
    State(web): State<Shared>,
    Path(id): Path<String>,
    posted: Posted,
) -> Result<Response, Refused> {
    let id = change(&web, &posted, &id).await.or_refuse(&web, &posted.visit)?;
    Ok(reply::see_other(&format!("/articles/{id}#article")))
}

async fn change(web: &Web, posted: &Posted, id: &str) -> Result<ArticleId, WebError> {
    let id: ArticleId = id.parse().map_err(|_| WebError::NotFound)?;
    let actor = &posted.session()?.actor;
    if posted.fields.text("like") == "no" {
        web.site.likes.unlike(actor, id).await?;
    } else {
        web.site.likes.like(actor, id).await?;
    }
    Ok(id)
}
