//! The list: a table where there is room, two lines a row where there is not.

use madang_article::BoardWithCount;
use madang_article_read::ReadSummary;
use madang_board::rules::{About, Action};
use maud::{Markup, html};

use super::Pager;
use crate::layout::{feed_link, sign_in_path};
use crate::preferences::{ListStyle, Order};
use crate::ranks::order_tabs;
use crate::state::Web;
use crate::texts;
use crate::visit::Visit;

/// A numbered page.
pub(super) fn paged(
    web: &Web,
    visit: &Visit,
    board: &BoardWithCount,
    pinned: &[ReadSummary],
    items: &[ReadSummary],
    pager: &Pager,
) -> Markup {
    let t = visit.texts();
    let path = format!("/b/{}", board.board.slug);
    html! {
        (heading(visit, board, Order::Newest))
        @if !items.is_empty() {
            (table(web, visit, pinned, items))
        } @else if board.article_count == 0 {
            p.empty { (if board.archived { t.no_articles } else { t.first_article }) }
        } @else {
            @let (number, last) = pager.last_page(&path);
            p.empty { (t.past_the_end) " " a href=(last) { (texts::last_page(visit.preferences.lang, number)) } }
        }
        (pager.show(t, &path))
    }
}

/// A step of a list that goes by cursor.
pub(super) struct Step<'a> {
    pub(super) items: &'a [ReadSummary],
    /// The cursor of the next step.
    pub(super) next: Option<String>,
    pub(super) is_top: bool,
    pub(super) order: Order,
}

/// A step of the list that goes on.
pub(super) fn scrolled(
    web: &Web,
    visit: &Visit,
    board: &BoardWithCount,
    pinned: &[ReadSummary],
    step: &Step<'_>,
) -> Markup {
    let is_top = step.is_top;
    let t = visit.texts();
    let path = format!("/b/{}", board.board.slug);
    html! {
        (heading(visit, board, step.order))
        @if !is_top { p.more { a href=(path) { "« " (t.first_page) } } }
        @if step.items.is_empty() {
            p.empty { (if !is_top { t.past_the_end } else if board.archived { t.no_articles } else { t.first_article }) }
        } @else {
            (table(web, visit, pinned, step.items))
        }
        @if let Some(next) = &step.next {
            p.more { a.button #older rel="next" href={ (path) "?before=" (next) } { (t.older_articles) } }
        }
    }
}

fn heading(visit: &Visit, board: &BoardWithCount, order: Order) -> Markup {
    let t = visit.texts();
    let path = format!("/b/{}", board.board.slug);
    html! {
        div.heading {
            h1 { a href=(path) { bdi { (board.board.title) } } }
            span.quiet { (texts::articles(visit.preferences.lang, board.article_count)) }
            (feed_link(visit, &format!("{path}/feed.atom")))
            @if visit.may(Action::EditBoard, About::NOTHING) { a href={ (path) "/manage" } rel="nofollow" { (t.manage_board) } }
            @if board.archived {} @else if visit.writes() { a.button.strong href={ (path) "/write" } { (t.write) } }
            @else if visit.session.is_none() { a.button href=(sign_in_path(visit)) rel="nofollow" { (t.sign_in_to_write) } }
        }
        @if !board.board.description.is_empty() { p.about { bdi { (board.board.description) } } }
        @if board.archived { p.notice { (t.archived_text) } }
        div.orders {
            (order_tabs(visit, order, &path))
            @if order == Order::Newest {
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
    }
}

fn table(web: &Web, visit: &Visit, pinned: &[ReadSummary], items: &[ReadSummary]) -> Markup {
    let t = visit.texts();
    // What stands on top is not told a second time in its place.
    let is_on_top = |item: &&ReadSummary| pinned.iter().any(|top| top.head().article_id == item.head().article_id);
    let others = items.iter().filter(|item| !is_on_top(item));
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { (t.title) }
                    th.writer scope="col" { (t.writer) }
                    th.time scope="col" { (t.time) }
                    th.last scope="col" { (t.last_reply) }
                    th.number scope="col" { (t.views) }
                    th.number scope="col" { (t.likes) }
                }
            }
            @if !pinned.is_empty() { tbody.pinned { @for item in pinned { (row(web, visit, item)) } } }
            tbody #articles { @for item in others { (row(web, visit, item)) } }
        }
    }
}

fn row(web: &Web, visit: &Visit, item: &ReadSummary) -> Markup {
    let (t, head) = (visit.texts(), item.head());
    html! {
        tr {
            th.title scope="row" {
                @if item.pinned { span.flag { (t.pinned) } " " }
                a href={ "/articles/" (head.article_id) } {
                    bdi { (head.title) }
                    @if item.comment_count > 0 {
                        " " span.count {
                            span aria-hidden="true" { "[" (item.comment_count) "]" }
                            span.vh { (texts::comments(visit.preferences.lang, item.comment_count)) }
                        }
                    }
                }
                @if item.locked { " " span.flag.quiet { (t.locked) } }
                @if web.time.is_new(head.created_at) { " " span.new { (t.new_mark) } }
            }
            td.writer { a href={ "/members/" (head.writer.member_id) } { bdi { (head.writer.name) } } }
            td.time { (web.time.short(head.created_at)) }
            td.last {
                @if let Some(last) = &item.last {
                    a href={ "/comments/" (last.comment_id) } rel="nofollow" {
                        span.label { (t.last_reply) ": " }
                        bdi { (last.writer.name) } " " (web.time.ago(visit.preferences.lang, last.created_at))
                    }
                }
            }
            (counted(visit, texts::VIEWS, item.view_count))
            (counted(visit, texts::LIKES, item.like_count))
        }
    }
}

/// A number in its column; in words where there are no columns.
fn counted(visit: &Visit, words: texts::Counted, count: u64) -> Markup {
    html! {
        td.number {
            span.figure { (count) }
            @if count > 0 { span.label { (words.say(visit.preferences.lang, count)) } }
        }
    }
}
