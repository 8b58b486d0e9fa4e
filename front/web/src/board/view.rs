//! The list: a table where there is room, two lines a row where there is not.

use madang_article::BoardWithCount;
use madang_article_read::ReadSummary;
use madang_board::ArticleId;
use madang_kernel::Scroll;
use maud::{Markup, html};

use super::Pager;
use crate::layout::sign_in_path;
use crate::preferences::ListStyle;
use crate::state::Web;
use crate::texts;
use crate::visit::Visit;

/// A numbered page.
pub(super) fn paged(web: &Web, visit: &Visit, board: &BoardWithCount, items: &[ReadSummary], pager: &Pager) -> Markup {
    let t = visit.texts();
    let path = format!("/b/{}", board.board.slug);
    html! {
        (heading(visit, board))
        @if items.is_empty() {
            p.empty { (if board.article_count == 0 { t.first_article } else { t.past_the_end }) }
        } @else {
            (table(web, visit, items))
        }
        (pager.show(t, &path))
    }
}

/// A step of the list that goes on.
pub(super) fn scrolled(
    web: &Web,
    visit: &Visit,
    board: &BoardWithCount,
    step: &Scroll<ReadSummary, ArticleId>,
    is_top: bool,
) -> Markup {
    let t = visit.texts();
    let path = format!("/b/{}", board.board.slug);
    html! {
        (heading(visit, board))
        @if !is_top { p.more { a href=(path) { "« " (t.newest) } } }
        @if step.items.is_empty() {
            p.empty { (if is_top { t.first_article } else { t.past_the_end }) }
        } @else {
            (table(web, visit, &step.items))
        }
        @if let Some(next) = step.next {
            p.more { a.button #older rel="next" href={ (path) "?before=" (next) } { (t.older_articles) } }
        }
    }
}

fn heading(visit: &Visit, board: &BoardWithCount) -> Markup {
    let t = visit.texts();
    let path = format!("/b/{}", board.board.slug);
    html! {
        div.heading {
            h1 { a href=(path) { bdi { (board.board.title) } } }
            span.quiet { (texts::articles(visit.preferences.lang, board.article_count)) }
            @if visit.session.is_some() { a.button.strong href={ (path) "/write" } { (t.write) } }
            @else { a.button href=(sign_in_path(visit)) rel="nofollow" { (t.sign_in_to_write) } }
        }
        form.choices.style method="post" action="/preferences" {
            input type="hidden" name="return" value=(path);
            fieldset {
                legend.vh { (t.list_style) }
                @for (style, code, name) in
                    [(ListStyle::Pages, "pages", t.list_pages), (ListStyle::Scroll, "scroll", t.list_scroll)] {
                    button.link name="list" value=(code) aria-pressed=(visit.preferences.list == style) { (name) }
                }
            }
        }
    }
}

fn table(web: &Web, visit: &Visit, items: &[ReadSummary]) -> Markup {
    let t = visit.texts();
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { (t.title) }
                    th.writer scope="col" { (t.writer) }
                    th.time scope="col" { (t.time) }
                    th.number scope="col" { (t.views) }
                    th.number scope="col" { (t.likes) }
                }
            }
            tbody #articles { @for item in items { (row(web, visit, item)) } }
        }
    }
}

fn row(web: &Web, visit: &Visit, item: &ReadSummary) -> Markup {
    let (t, head) = (visit.texts(), item.head());
    html! {
        tr {
            th.title scope="row" {
                a href={ "/articles/" (head.article_id) } {
                    bdi { (head.title) }
                    @if item.comment_count > 0 {
                        " " span.count aria-label={ (t.comments) " " (item.comment_count) } { "[" (item.comment_count) "]" }
                    }
                }
                @if web.time.is_new(head.created_at) { " " span.new { (t.new_mark) } }
            }
            td.writer { a href={ "/members/" (head.writer.member_id) } { bdi { (head.writer.name) } } }
            td.time { (web.time.short(head.created_at)) }
            td.number { span.label { (t.views) " " } (item.view_count) }
            td.number { span.label { (t.likes) " " } (item.like_count) }
        }
    }
}
