//! The list of comments: flat in the page, indented by a thin line, so that a tree of any shape is one list to read.

use madang_article::BoardWithCount;
use madang_board::ArticleId;
use madang_board::rules::{About, Action};
use madang_comment::{CONTENT_MAX_CHARS, Comment};
use maud::{Markup, PreEscaped, html};

use super::comment_list::{ShownComment, sort_key};
use super::{CommentForm, Discussed};
use crate::article::ArticlePage;
use crate::error::suspended;
use crate::form::{Problems, area};
use crate::idempotency::idempotency_field;
use crate::layout::{draft_name, sign_in_path, token_field};
use crate::member::badge;
use crate::state::Web;
use crate::texts;
use crate::visit::Visit;

/// The list with the form below it.
pub(crate) fn list(web: &Web, visit: &Visit, shown: &ArticlePage, form: Option<&CommentForm>) -> Markup {
    let (t, listed) = (visit.texts(), &shown.comments);
    let id = shown.article.text.head.article_id;
    let (board, discussed) = (&shown.board, shown.discussed());
    html! {
        @if listed.is_thread {
            p.notice { (t.one_thread) " " a href={ "/articles/" (id) "#comments" } { (t.all_comments) } }
        } @else if !listed.is_start {
            p.notice { a href={ "/articles/" (id) "#comments" } { "« " (t.all_comments) } }
        }
        @if listed.items.is_empty() {
            // Who is suspended is not asked to be the first.
            @let invites = discussed.takes_comments(visit)
                || (visit.session.is_none() && !board.archived && !discussed.locked);
            p.empty #no-comments { (if invites { t.no_comments } else { t.no_comments_of_theirs }) }
        }
        ol.comments #comment-list {
            @for shown in &listed.items { (item(web, visit, shown, discussed)) }
        }
        @if let Some(next) = &listed.next {
            p.more { a.button #more-comments href={ "/articles/" (id) "?after=" (next) "#comments" } { (t.more_comments) } }
        }
        p #live-notice.notice hidden { button.link {} }
        @if board.archived {
            p.notice { (t.archived_text) }
            // What was typed meanwhile is not lost.
            @if form.is_some() { (write(visit, id, form)) }
        } @else if visit.writes() && discussed.takes_comments(visit) {
            @if discussed.locked { p.notice { (t.locked_moderator_text) } }
            (write(visit, id, form))
        } @else if discussed.locked {
            p.notice { (t.locked_text) }
            @if form.is_some() { (write(visit, id, form)) }
        } @else if visit.session.is_some() {
            p.notice { (suspended(web, visit)) }
            @if form.is_some() { (write(visit, id, form)) }
        } @else if form.is_some() {
            // Their session ended while they typed: the form says so, and has the text.
            (write(visit, id, form))
        } @else {
            p.notice { a.button href=(sign_in_path(visit)) rel="nofollow" { (t.sign_in_to_comment) } }
        }
    }
}

/// One comment.
pub(super) fn item(web: &Web, visit: &Visit, shown: &ShownComment, discussed: Discussed<'_>) -> Markup {
    let (t, comment) = (visit.texts(), &shown.comment);
    let id = comment.comment_id;
    html! {
        li.comment id={ "c" (id) } data-level=(shown.level) data-key=(sort_key(comment))
            itemprop=[comment.content.as_ref().map(|_| "comment")] itemscope[comment.content.is_some()]
            itemtype=[comment.content.as_ref().map(|_| "https://schema.org/Comment")] {
            @if comment.depth > 1 { span.vh { (texts::level(visit.preferences.lang, comment.depth)) } }
            @match (&comment.content_html, &comment.writer) {
                (Some(html), Some(writer)) => {
                    p.facts {
                        span itemprop="author" itemscope itemtype="https://schema.org/Person" {
                            a.author href={ "/members/" (writer.member_id) } itemprop="url" {
                                bdi itemprop="name" { (writer.name) }
                            }
                        }
                        (badge(web, visit, writer.member_id))
                        a.quiet href={ "/articles/" (comment.article_id) "?thread=" (id) "#c" (id) } rel="nofollow" {
                            (web.time.short(comment.created_at))
                        }
                        @if comment.is_edited() {
                            span.edited { (web.time.behind(comment.modified_at, t.comment_edited)) }
                        }
                        meta itemprop="datePublished" content=(comment.created_at);
                        @if comment.is_edited() { meta itemprop="dateModified" content=(comment.modified_at); }
                    }
                    div.text itemprop="text" { (PreEscaped(html)) }
                    (actions(web, visit, comment, discussed))
                }
                _ => p.gone {
                    (t.deleted_comment)
                    @if visit.may(Action::Restore, About::on(discussed.board.board.board_id, false)) {
                        " " a href={ "/comments/" (id) "/restore" } rel="nofollow" { (visit.moderating_texts().see_removed) }
                    }
                },
            }
            @if shown.continues {
                p.continue { a href={ "/articles/" (comment.article_id) "?thread=" (id) "#comments" } rel="nofollow" { (t.continue_thread) " →" } }
            }
        }
    }
}

fn actions(web: &Web, visit: &Visit, comment: &Comment, discussed: Discussed<'_>) -> Markup {
    let t = visit.texts();
    let id = comment.comment_id;
    let BoardWithCount { board, archived, .. } = discussed.board;
    let takes_replies = web.site.comments.takes_replies(board.comment_mode, comment.depth);
    let may_reply = takes_replies && discussed.takes_comments(visit);
    let is_own = comment.writer.as_ref().is_some_and(|writer| visit.is(writer.member_id));
    let about = About::on(board.board_id, is_own);
    let may_edit = visit.may(Action::EditComment, about) && !archived;
    let may_delete = visit.may(Action::DeleteComment, about) && !archived;
    let may_report = visit.may(Action::Report, About::NOTHING) && !is_own;
    html! {
        @if may_reply || may_edit || may_delete || may_report {
            p.actions {
                @if may_reply { a.reply href={ "/comments/" (id) "/reply" } rel="nofollow" { (t.reply) } }
                @if may_edit { a href={ "/comments/" (id) "/edit" } rel="nofollow" { (t.edit) } }
                @if may_delete { a href={ "/comments/" (id) "/delete" } rel="nofollow" { (t.delete) } }
                @if may_report { a href={ "/comments/" (id) "/report" } rel="nofollow" { (t.report) } }
            }
        }
    }
}

fn write(visit: &Visit, article: ArticleId, form: Option<&CommentForm>) -> Markup {
    let form = form.filter(|form| form.parent.is_empty());
    comment_form(visit, article, "", form)
}

/// The form for a comment, or for a reply to `parent`.
pub(super) fn comment_form(visit: &Visit, article: ArticleId, parent: &str, form: Option<&CommentForm>) -> Markup {
    let t = visit.texts();
    let none = Problems::default();
    let (content, problems) = form.map_or(("", &none), |form| (&form.content, &form.problems));
    let (label, send) = if parent.is_empty() { (t.your_comment, t.send_comment) } else { (t.your_reply, t.send_reply) };
    html! {
        form.write.comment-form #(if parent.is_empty() { "comment-form" } else { "reply-form" })
            method="post" action={ "/articles/" (article) "/comments" }
            data-draft=[draft_name(visit, &format!("comment-{article}-{parent}"))] {
            (problems.summary(visit))
            (token_field(visit))
            (idempotency_field())
            input type="hidden" name="parent" value=(parent);
            (area("content", label, content, 4, CONTENT_MAX_CHARS, problems))
            p.buttons {
                button.button.strong { (send) }
                @if !parent.is_empty() { a.cancel href={ "/articles/" (article) "#c" (parent) } { (t.cancel) } }
                span.hint { (t.markdown_hint) }
            }
        }
    }
}
