//! What search engines ask first: what they may look at, and what there is.

use axum::extract::State;
use axum::response::Response;
use madang_kernel::PageSize;
use maud::{PreEscaped, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::reply;
use crate::state::{Shared, Web};
use crate::visit::Visit;

/// Boards in the sitemap, each with its newest articles: together far below the format's 50,000 addresses.
const BOARDS_MAX: usize = 100;

/// `robots.txt`: forms and switches are not for robots.
pub(crate) async fn robots(visit: Visit) -> Response {
    let text = format!(
        "User-agent: *\nDisallow: /api/\nDisallow: /sign-in\nDisallow: /sign-up\nDisallow: /search\nDisallow: /comments/\n\
         Disallow: /*/write\nDisallow: /*?thread=\nDisallow: /*?after=\nDisallow: /*?before=\n\n\
         Sitemap: {}/sitemap.xml\n",
        visit.base
    );
    reply::document(&visit, "text/plain; charset=utf-8", text)
}

/// The sitemap: every board, and the newest articles of each.
pub(crate) async fn sitemap(State(web): State<Shared>, visit: Visit) -> Result<Response, Refused> {
    let text = entries(&web, &visit.base).await.or_refuse(&web, &visit)?;
    Ok(reply::document(&visit, "application/xml; charset=utf-8", text))
}

async fn entries(web: &Web, base: &str) -> Result<String, WebError> {
    let size = PageSize::new("limit", i64::from(PageSize::MAX)).unwrap_or(PageSize::DEFAULT);
    let mut addresses: Vec<(String, Option<String>)> = vec![("/".into(), None), ("/hot".into(), None)];
    for board in web.boards.all().await?.iter().take(BOARDS_MAX) {
        addresses.push((format!("/b/{}", board.board.slug), None));
        let Some(step) = web.site.read.scroll(board.board.board_id, None, size).await? else { continue };
        addresses.extend(step.items.iter().map(|item| {
            let head = item.head();
            (format!("/articles/{}", head.article_id), Some(head.modified_at.to_string()))
        }));
    }
    let markup = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" {
            @for (path, changed) in &addresses {
                url {
                    loc { (base) (path) }
                    @if let Some(changed) = changed { lastmod { (changed) } }
                }
            }
        }
    };
    Ok(markup.into_string())
}
