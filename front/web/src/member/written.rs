//! What a member wrote: articles by their titles, comments by their first words.

use madang_article::ArticleHead;
use madang_board::{ArticleId, CommentId};
use madang_comment::Comment;
use madang_kernel::Scroll;
use madang_member::Member;
use maud::{Markup, html};

use crate::error::WebError;
use crate::plain_text::excerpt;
use crate::state::Web;
use crate::visit::Visit;

/// Words of a comment that are shown.
const WORDS_CHARS_MAX: usize = 160;

/// The newest articles, on the page of the member.
pub(super) async fn articles(
    web: &Web,
    visit: &Visit,
    member: &Member,
    found: &Scroll<ArticleHead, ArticleId>,
) -> Result<Markup, WebError> {
    let (t, titles) = (visit.texts(), titles(web, &found.items).await?);
    let texts = [t.articles, t.no_articles_of_theirs, t.all_articles];
    Ok(newest(member, "articles", texts, &titles, found))
}

/// The newest comments, on the page of the member.
pub(super) fn comments(web: &Web, visit: &Visit, member: &Member, found: &Scroll<Comment, CommentId>) -> Markup {
    let t = visit.texts();
    let texts = [t.comments, t.no_comments_of_theirs, t.all_their_comments];
    newest(member, "comments", texts, &words(web, &found.items), found)
}

fn newest<T, C>(
    member: &Member,
    kind: &str,
    [heading, empty, all]: [&str; 3],
    listed: &Markup,
    found: &Scroll<T, C>,
) -> Markup {
    let id = format!("their-{kind}");
    html! {
        section.written aria-labelledby=(id) {
            h2 id=(id) { (heading) }
            @if found.items.is_empty() { p.empty { (empty) } }
            (listed)
            @if found.next.is_some() {
                p.more { a href={ "/members/" (member.member_id) "/" (kind) } { (all) } }
            }
        }
    }
}

/// A step of all articles.
pub(super) async fn all_articles(
    web: &Web,
    visit: &Visit,
    member: &Member,
    found: &Scroll<ArticleHead, ArticleId>,
) -> Result<Markup, WebError> {
    let t = visit.texts();
    let listed = titles(web, &found.items).await?;
    let next = found.next.map(|next| format!("/members/{}/articles?before={next}", member.member_id));
    Ok(step(visit, member, (t.articles, t.no_articles_of_theirs), &listed, found.items.is_empty(), next))
}

/// A step of all comments.
pub(super) fn all_comments(web: &Web, visit: &Visit, member: &Member, found: &Scroll<Comment, CommentId>) -> Markup {
    let t = visit.texts();
    let next = found.next.map(|next| format!("/members/{}/comments?before={next}", member.member_id));
    let texts = (t.comments, t.no_comments_of_theirs);
    step(visit, member, texts, &words(web, &found.items), found.items.is_empty(), next)
}

fn step(
    visit: &Visit,
    member: &Member,
    (heading, empty): (&str, &str),
    listed: &Markup,
    is_empty: bool,
    next: Option<String>,
) -> Markup {
    let t = visit.texts();
    html! {
        p.crumb { a href={ "/members/" (member.member_id) } { bdi { (member.name) } } }
        h1 { (heading) }
        @if is_empty { p.empty { (empty) } }
        (listed)
        @if let Some(next) = next { p.more { a.button rel="next" href=(next) { (t.older) } } }
    }
}

async fn titles(web: &Web, items: &[ArticleHead]) -> Result<Markup, WebError> {
    let boards = web.boards.all().await?;
    let board_of = |item: &ArticleHead| boards.iter().find(|found| found.board.board_id == item.board_id);
    Ok(html! {
        ol.entries {
            @for item in items {
                li {
                    p.said { a href={ "/articles/" (item.article_id) } { bdi { (item.title) } } }
                    p.facts {
                        span { (web.time.whole(item.created_at)) }
                        @if let Some(found) = board_of(item) {
                            a href={ "/b/" (found.board.slug) } { bdi { (found.board.title) } }
                        }
                    }
                }
            }
        }
    })
}

fn words(web: &Web, items: &[Comment]) -> Markup {
    html! {
        ol.entries {
            @for comment in items {
                @if let Some(html) = &comment.content_html {
                    li {
                        p.said { a href={ "/comments/" (comment.comment_id) } { bdi { (excerpt(html, WORDS_CHARS_MAX)) } } }
                        p.facts { span { (web.time.whole(comment.created_at)) } }
                    }
                }
            }
        }
    }
}
