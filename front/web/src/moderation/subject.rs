//! What a report is about, as it is now: by its text and its writer, or gone.

use futures_util::future::join_all;
use madang_board::{Report, Reported};
use madang_comment::CommentError;

use crate::error::WebError;
use crate::plain_text::excerpt;
use crate::state::Web;

/// Characters of a text that are shown.
const TEXT_CHARS_MAX: usize = 240;

/// What was reported.
pub(super) enum Subject {
    /// It is there.
    Present(Quoted),
    /// It was deleted, alone or with its article.
    Deleted,
}

/// What it says.
pub(super) struct Quoted {
    /// Where it is.
    pub(super) path: String,
    /// The title of an article.
    pub(super) title: Option<String>,
    /// The beginning of its text.
    pub(super) text: String,
    /// The path of its writer's page, and their name.
    pub(super) writer: (String, String),
}

/// The subjects of reports, in their order: articles together, comments beside one another.
pub(super) async fn subjects(web: &Web, reports: &[Report]) -> Result<Vec<Subject>, WebError> {
    let ids: Vec<_> = reports.iter().map(|report| report.article_id).collect();
    let articles = web.site.read.articles(&ids).await?;
    let found = reports.iter().zip(articles).map(async |(report, article)| {
        let Some(article) = article else { return Ok(Subject::Deleted) };
        match report.reported {
            Reported::Article(id) => Ok(Subject::Present(Quoted {
                path: format!("/articles/{id}"),
                title: Some(article.text.head.title.clone()),
                text: excerpt(&article.text.content_html, TEXT_CHARS_MAX),
                writer: writer(&article.text.head.writer),
            })),
            Reported::Comment(id) => {
                let comment = match web.site.comments.get(id).await {
                    Ok(comment) => comment,
                    Err(CommentError::NotFound(_)) => return Ok(Subject::Deleted),
                    Err(error) => return Err(error.into()),
                };
                Ok(match (&comment.content_html, &comment.writer) {
                    (Some(html), Some(by)) => Subject::Present(Quoted {
                        path: format!("/comments/{id}"),
                        title: None,
                        text: excerpt(html, TEXT_CHARS_MAX),
                        writer: writer(by),
                    }),
                    _ => Subject::Deleted,
                })
            }
        }
    });
    join_all(found).await.into_iter().collect()
}

fn writer(writer: &madang_event::Writer) -> (String, String) {
    (format!("/members/{}", writer.member_id), writer.name.clone())
}
