//! The page of an article: text, facts, the like button, comments. What search engines want to know of a discussion
//! (schema.org's `DiscussionForumPosting`) is said by attributes of what is shown, so that nothing is inline.

use madang_article_read::ArticleHead;
use madang_board::rules::{About, Action};
use maud::{Markup, PreEscaped, html};

use super::{ArticlePage, moderate};
use crate::comments::{self, CommentForm};
use crate::layout::{sign_in_path, token_field};
use crate::member::badge;
use crate::preferences::Lang;
use crate::state::Web;
use crate::texts;
use crate::visit::Visit;

/// The content of the main landmark.
pub(super) fn article(web: &Web, visit: &Visit, shown: &ArticlePage, form: Option<&CommentForm>) -> Markup {
    let (t, read) = (visit.texts(), &shown.article);
    let (head, board) = (&read.text.head, &shown.board.board);
    let [one, many] = texts::new_comments(visit.preferences.lang);
    html! {
        article.reading #article data-id=(head.article_id) data-version=(head.version) data-comments=(read.comment_count)
            itemscope itemtype="https://schema.org/DiscussionForumPosting" itemref="comment-list" {
            p.crumb { a href={ "/b/" (board.slug) } { bdi { (board.title) } } }
            h1 {
                @if read.pinned { span.flag { (t.pinned) } " " }
                bdi itemprop="headline" { (head.title) }
                @if read.locked { " " span.flag.quiet { (t.locked) } }
            }
            (facts(web, visit, shown, head))
            div.text itemprop="text" { (PreEscaped(&read.text.content_html)) }
            div.actions {
                (like(visit, shown))
                @if !shown.board.archived && may_change(visit, head) {
                    a href={ "/articles/" (head.article_id) "/edit" } { (t.edit) }
                    a href={ "/articles/" (head.article_id) "/delete" } { (t.delete) }
                }
                @if !shown.board.archived { (moderate::actions(visit, read)) }
                @if visit.may(Action::Report, About::NOTHING) && !visit.is(head.writer.member_id) {
                    a.aside href={ "/articles/" (head.article_id) "/report" } rel="nofollow" { (t.report) }
                }
            }
            p.problem #like-problem role="alert" hidden data-failed=(t.like_failed) data-ended=(t.session_ended_like)
                data-suspended=(t.suspended_title) data-wait=(texts::wait_pattern(visit.preferences.lang)) {}
        }
        section.discussion #comments aria-labelledby="comments-title"
            data-new-one=(one) data-new-many=(many) data-gone=(t.article_gone) data-edited=(t.article_edited)
            data-show=(t.show) data-failed=(t.send_failed) data-deleted=(t.deleted_comment) data-discard=(t.discard_reply) {
            h2 #comments-title { (t.comments) " " span #comment-count { (read.comment_count) } }
            (comments::list(web, visit, shown, form))
        }
        p.more { a href={ "/b/" (board.slug) } { "« " (t.to_board) } }
    }
}

fn facts(web: &Web, visit: &Visit, shown: &ArticlePage, head: &ArticleHead) -> Markup {
    let (t, lang, read) = (visit.texts(), visit.preferences.lang, &shown.article);
    html! {
        p.facts {
            span itemprop="author" itemscope itemtype="https://schema.org/Person" {
                a href={ "/members/" (head.writer.member_id) } rel="author" itemprop="url" {
                    bdi itemprop="name" { (head.writer.name) }
                }
            }
            (badge(web, visit, head.writer.member_id))
            span { (web.time.whole(head.created_at)) meta itemprop="datePublished" content=(head.created_at); }
            @if head.modified_at > head.created_at { span { (t.edited) " " (web.time.short(head.modified_at)) } }
            meta itemprop="dateModified" content=(head.modified_at);
            (counted("view-count", None, texts::VIEWS, lang, read.view_count))
            (counted("like-count", Some("LikeAction"), texts::LIKES, lang, read.like_count))
            a href="#comments" { (words("comment-count", texts::COMMENTS, lang, read.comment_count)) }
        }
    }
}

/// A count in words that follows the live changes.
fn counted(class: &str, action: Option<&str>, counted: texts::Counted, lang: Lang, count: u64) -> Markup {
    html! {
        span itemprop=[action.map(|_| "interactionStatistic")] itemscope[action.is_some()]
            itemtype=[action.map(|_| "https://schema.org/InteractionCounter")] {
            @if let Some(action) = action {
                meta itemprop="interactionType" content={ "https://schema.org/" (action) };
                meta itemprop="userInteractionCount" content=(count);
            }
            (words(class, counted, lang, count))
        }
    }
}

fn words(class: &str, counted: texts::Counted, lang: Lang, count: u64) -> Markup {
    let [one, many] = counted.in_language(lang);
    html! {
        span class=(class) data-count=(count) data-one=(one) data-many=(many) { (counted.say(lang, count)) }
    }
}

fn like(visit: &Visit, shown: &ArticlePage) -> Markup {
    let (t, read) = (visit.texts(), &shown.article);
    let id = read.text.head.article_id;
    // The heart is drawn by the style, full or empty as the button is pressed.
    let inside = html! {
        span.heart aria-hidden="true" {}
        " " span.word { (t.like) } " " span.like-count { (read.like_count) }
    };
    html! {
        @if shown.board.archived {
            span.like { span.button.off { (inside) } }
        } @else if visit.may(Action::Like, About::NOTHING) {
            form.like #like method="post" action={ "/articles/" (id) "/like" } {
                (token_field(visit))
                input type="hidden" name="like" value=(if shown.liked { "no" } else { "yes" });
                button.button aria-pressed=(shown.liked) { (inside) }
            }
        } @else if visit.session.is_some() {
            span.like { span.button.off { (inside) } }
        } @else {
            a.button.like href=(sign_in_path(visit)) rel="nofollow" { (inside) }
        }
    }
}

fn may_change(visit: &Visit, head: &ArticleHead) -> bool {
    visit.may(Action::EditArticle, About::on(head.board_id, visit.is(head.writer.member_id)))
}
