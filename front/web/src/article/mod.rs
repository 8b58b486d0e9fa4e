//! An article with its comments: what everybody opens.

mod moderate;
mod view;

use axum::extract::{Path, State};
use axum::response::Response;
use madang_article::BoardWithCount;
use madang_article_read::ReadArticle;
use madang_board::{ArticleId, CommentId};
use madang_comment::Comment;
use madang_kernel::PageSize;
use serde::Deserialize;

use crate::comments::{CommentForm, CommentList, Discussed};
use crate::error::{OrRefuse as _, Refused, WebError};
use crate::layout::{NavEntry, Page, encoded, whole};
use crate::plain_text::{DESCRIPTION_CHARS_MAX, excerpt};
use crate::query::LenientQuery;
use crate::state::{Shared, Web};
use crate::visit::Visit;
use crate::{comments, removed, reply};

/// Where in the comments, as query parameters.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ArticleQuery {
    after: Option<String>,
    thread: Option<CommentId>,
}

/// Everything the page shows.
pub(crate) struct ArticlePage {
    pub(crate) article: ReadArticle,
    pub(crate) board: BoardWithCount,
    /// Whether the reader likes it.
    pub(crate) liked: bool,
    pub(crate) comments: CommentList,
}

pub(crate) use moderate::{lock, pin, pin_form};

impl ArticlePage {
    /// Where its comments are, and whether new ones are taken.
    pub(crate) fn discussed(&self) -> Discussed<'_> {
        Discussed { board: &self.board, locked: self.article.locked }
    }
}

/// An article.
pub(crate) async fn article(
    State(web): State<Shared>,
    mut visit: Visit,
    Path(id): Path<String>,
    LenientQuery(ArticleQuery { after, thread }): LenientQuery<ArticleQuery>,
) -> Result<Response, Refused> {
    let Ok(id) = id.parse::<ArticleId>() else { return Err(WebError::NotFound.refuse(&web, &visit)) };
    visit.here = match (&after, thread) {
        (_, Some(thread)) => format!("/articles/{id}?thread={thread}"),
        (Some(after), None) => format!("/articles/{id}?after={}", encoded(after)),
        (None, None) => format!("/articles/{id}"),
    };
    count_view(&web, &visit, id).await;
    let miss = match web.pages.find(&visit, web.site.read.generation()) {
        Ok(page) => return Ok(reply::cached(&visit, &page).await),
        Err(miss) => miss,
    };
    let shown = match shown(&web, &visit, id, after.as_deref(), thread).await {
        Err(WebError::NotFound) => match removed::path_of_removed(&web, &visit, id).await {
            Some(path) => return Ok(reply::see_other(&path)),
            None => Err(WebError::NotFound),
        },
        found => found,
    };
    let shown = shown.or_refuse(&web, &visit)?;
    let html = page(&web, &visit, &shown, None);
    Ok(reply::shared(&web, &visit, miss, html).await)
}

/// The whole page; with a comment form that came back, if one did.
pub(crate) fn page(web: &Web, visit: &Visit, shown: &ArticlePage, form: Option<&CommentForm>) -> String {
    let (text, board) = (&shown.article.text, &shown.board.board);
    let page = Page {
        title: &text.head.title,
        main: view::article(web, visit, shown, form),
        canonical: Some(format!("/articles/{}", text.head.article_id)),
        description: Some(excerpt(&text.content_html, DESCRIPTION_CHARS_MAX)),
        written: Some([text.head.created_at, text.head.modified_at].map(|moment| moment.to_string())),
        feed: Some(format!("/b/{}/feed.atom", board.slug)),
        nav: NavEntry::Board(&board.slug),
        ..Page::default()
    };
    whole(web, visit, &page)
}

/// Everything the page shows, from the query model and from the comments.
pub(crate) async fn shown(
    web: &Web,
    visit: &Visit,
    id: ArticleId,
    after: Option<&str>,
    thread: Option<CommentId>,
) -> Result<ArticlePage, WebError> {
    let article = web.site.read.article(id).await?.ok_or(WebError::NotFound)?;
    let board = web.boards.by_id(article.text.head.board_id).await?.ok_or(WebError::NotFound)?;
    let liked = match visit.actor() {
        Some(actor) => web.site.likes.state(id, Some(actor.member_id)).await?.liked,
        None => false,
    };
    let comments = match thread {
        Some(root) => thread_of(web, id, root).await?,
        None => {
            let found = web.site.comments.scroll(id, after, comments::STEP).await?;
            CommentList::new(found.items, found.next.map(|next| next.to_string()), after.is_none(), None)
        }
    };
    Ok(ArticlePage { article, board, liked, comments })
}

/// A comment with what is below it.
async fn thread_of(web: &Web, article: ArticleId, root: CommentId) -> Result<CommentList, WebError> {
    let root = web.site.comments.get(root).await?;
    if root.article_id != article {
        return Err(WebError::NotFound);
    }
    let after = madang_comment::CommentCursor::after(&root).to_string();
    let below = web.site.comments.scroll(article, Some(&after), PageSize::new("limit", 100).unwrap_or(comments::STEP));
    let below = below.await?;
    // A thread that is longer than one step goes on in the whole list.
    let is_longer = below.items.last().is_some_and(|last| is_below(last, &root));
    let next = below.next.filter(|_| is_longer).map(|next| next.to_string());
    let below = below.items.into_iter().take_while(|comment| is_below(comment, &root));
    let base = root.depth;
    let items: Vec<_> = std::iter::once(root.clone()).chain(below).collect();
    Ok(CommentList::new(items, next, false, Some(base)))
}

fn is_below(comment: &Comment, root: &Comment) -> bool {
    match (&comment.path, &root.path) {
        (Some(path), Some(root)) => path.as_str().starts_with(root.as_str()),
        _ => comment.parent_id == Some(root.comment_id),
    }
}

/// Counts the view, which must not cost the reader the page.
async fn count_view(web: &Web, visit: &Visit, id: ArticleId) {
    let Some(viewer) = visit.viewer(web) else { return };
    if let Err(error) = web.site.views.view(id, viewer).await {
        tracing::debug!("a view of article {id} was not counted: {error}");
    }
}
