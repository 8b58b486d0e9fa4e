//! The page of an article: text, facts, the like button, comments.

use madang_article_read::ArticleHead;
use madang_board::rules::{About, Action};
use maud::{Markup, PreEscaped, html};

use super::ArticlePage;
use crate::comments::{self, CommentForm};
use crate::layout::{sign_in_path, token_field};
use crate::member::badge;
use crate::state::Web;
use crate::texts;
use crate::visit::Visit;

/// The content of the main landmark.
pub(super) fn article(web: &Web, visit: &Visit, shown: &ArticlePage, form: Option<&CommentForm>) -> Markup {
    let (t, read) = (visit.texts(), &shown.article);
    let (head, board) = (&read.text.head, &shown.board.board);
    let [one, many] = texts::new_comments(visit.preferences.lang);
    html! {
        article.reading #article data-id=(head.article_id) data-version=(head.version) data-comments=(read.comment_count) {
            p.crumb { a href={ "/b/" (board.slug) } { bdi { (board.title) } } }
            h1 { bdi { (head.title) } }
            (facts(web, visit, shown, head))
            div.text { (PreEscaped(&read.text.content_html)) }
            div.actions {
                (like(visit, shown))
                @if may_change(visit, head) {
                    a href={ "/articles/" (head.article_id) "/edit" } { (t.edit) }
                    a href={ "/articles/" (head.article_id) "/delete" } { (t.delete) }
                }
                @if visit.session.is_some() && !visit.is(head.writer.member_id) {
                    a.aside href={ "/articles/" (head.article_id) "/report" } rel="nofollow" { (t.report) }
                }
            }
            p.problem #like-problem role="alert" hidden { (t.like_failed) }
        }
        section.discussion #comments aria-labelledby="comments-title"
            data-new-one=(one) data-new-many=(many) data-gone=(t.article_gone) data-edited=(t.article_edited)
            data-show=(t.show) data-failed=(t.send_failed) {
            h2 #comments-title { (t.comments) " " span #comment-count { (read.comment_count) } }
            (comments::list(web, visit, shown, form))
        }
        p.more { a href={ "/b/" (board.slug) } { "« " (t.to_board) } }
    }
}

fn facts(web: &Web, visit: &Visit, shown: &ArticlePage, head: &ArticleHead) -> Markup {
    let (t, read) = (visit.texts(), &shown.article);
    html! {
        p.facts {
            a href={ "/members/" (head.writer.member_id) } rel="author" { bdi { (head.writer.name) } }
            (badge(web, visit, head.writer.member_id))
            span { (web.time.whole(head.created_at)) }
            @if head.version > 1 { span { (t.edited) " " (web.time.short(head.modified_at)) } }
            span { (t.views) " " span #view-count { (read.view_count) } }
            span { (t.likes) " " span.like-count { (read.like_count) } }
            a href="#comments" { (t.comments) " " (read.comment_count) }
        }
    }
}

fn like(visit: &Visit, shown: &ArticlePage) -> Markup {
    let (t, read) = (visit.texts(), &shown.article);
    let id = read.text.head.article_id;
    let inside = html! {
        span.heart aria-hidden="true" { "♥" }
        " " span.word { (t.like) } " " span.like-count { (read.like_count) }
    };
    html! {
        @if visit.session.is_some() {
            form.like #like method="post" action={ "/articles/" (id) "/like" } {
                (token_field(visit))
                input type="hidden" name="like" value=(if shown.liked { "no" } else { "yes" });
                button.button aria-pressed=(shown.liked) { (inside) }
            }
        } @else {
            a.button.like href=(sign_in_path(visit)) rel="nofollow" { (inside) }
        }
    }
}

fn may_change(visit: &Visit, head: &ArticleHead) -> bool {
    visit.may(Action::EditArticle, About::on(head.board_id, visit.is(head.writer.member_id)))
}
