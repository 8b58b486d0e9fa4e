//! The front page: which boards there are, and where to go from here.

use std::fmt::Write as _;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use madang_article::{ArticleError, BoardWithCount};

use crate::WebState;
use crate::page::{Escaped, page, unavailable};

/// The front page.
pub(crate) async fn home(State(web): State<WebState>) -> Response {
    match web.articles.boards().await {
        Ok(boards) => page(StatusCode::OK, "Boards", &list(&boards)),
        Err(error) => {
            log(&error);
            unavailable()
        }
    }
}

fn list(boards: &[BoardWithCount]) -> String {
    let mut html = String::from("<ul>\n");
    for BoardWithCount { board, article_count } in boards {
        let (id, title) = (board.board_id, Escaped(&board.title));
        // Writing to a String cannot fail.
        let _ = writeln!(
            html,
            "<li><a href=\"/api/v1/boards/{id}/articles\">{title}</a> <small>{article_count} articles</small></li>"
        );
    }
    html.push_str(
        "</ul>\n<p>The pages for reading and writing come later; everything works through the API today: \
         <a href=\"/docs\">browse it</a>, or read <a href=\"/openapi.json\">its description</a>. \
         The README shows how to register, sign in and write a first article.</p>",
    );
    html
}

fn log(error: &ArticleError) {
    tracing::error!("the front page cannot list the boards: {error}");
}
