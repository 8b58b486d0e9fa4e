//! How a search looks: the form with its filters, and what was found.

use madang_article::BoardWithCount;
use madang_search::{Kind, QUERY_MAX_CHARS, SearchItem, SearchPage};
use maud::{Markup, PreEscaped, html};

use super::{Outcome, PERIODS, SearchForm};
use crate::layout::encoded;
use crate::state::Web;
use crate::texts::{self, SearchTexts};
use crate::visit::Visit;

/// The title and the content of the page.
pub(super) fn page(
    web: &Web,
    visit: &Visit,
    form: &SearchForm,
    outcome: &Outcome,
    writer: Option<&str>,
    boards: &[BoardWithCount],
) -> (String, Markup) {
    let s = SearchTexts::in_language(visit.preferences.lang);
    let q = form.q.trim();
    let title = if q.is_empty() { s.search.to_owned() } else { format!("{q} · {}", s.search) };
    let main = html! {
        h1 { (s.search) }
        (fields(s, form, writer, boards))
        @match outcome {
            Outcome::Nothing => p.empty { (s.hint) },
            Outcome::TooLong => p.problem role="alert" { (s.too_long) },
            Outcome::NotConfigured => p.problem role="alert" { (s.not_configured) },
            Outcome::Away => p.problem role="alert" { (s.away) },
            Outcome::Found(found) => (hits(web, visit, form, found, boards)),
        }
    };
    (title, main)
}

fn fields(s: &SearchTexts, form: &SearchForm, writer: Option<&str>, boards: &[BoardWithCount]) -> Markup {
    let chosen = |value: &Option<String>, name: &str| value.as_deref() == Some(name);
    let kinds = [("all", s.kind_all), ("article", s.kind_articles), ("comment", s.kind_comments)];
    let sorts = [("relevance", s.by_relevance), ("newest", s.by_newest)];
    let periods = [s.past_day, s.past_week, s.past_month, s.past_year];
    html! {
        form.searching method="get" action="/search" {
            p.query {
                label.vh for="search-q" { (s.what) }
                input #search-q type="search" name="q" value=(form.q.trim()) maxlength=(QUERY_MAX_CHARS) required;
                button.strong { (s.search) }
            }
            p.filters {
                label { span { (s.kind) } select name="kind" {
                    @for (value, name) in kinds { option value=(value) selected[chosen(&form.kind, value)] { (name) } }
                } }
                label { span { (s.board) } select name="board_id" {
                    option value="" { (s.every_board) }
                    @for found in boards {
                        @let id = found.board.board_id.to_string();
                        option value=(id) selected[chosen(&form.board_id, &id)] { (found.board.title) }
                    }
                } }
                label { span { (s.period) } select name="period" {
                    option value="" { (s.any_time) }
                    @for ((value, _), name) in PERIODS.iter().zip(periods) {
                        option value=(value) selected[chosen(&form.period, value)] { (name) }
                    }
                } }
                label { span { (s.order) } select name="sort" {
                    @for (value, name) in sorts { option value=(value) selected[chosen(&form.sort, value)] { (name) } }
                } }
            }
            @if let (Some(name), Some(id)) = (writer, &form.writer_id) {
                p.hint {
                    label { input type="checkbox" name="writer_id" value=(id) checked; " " (s.only_by) " " bdi { (name) } }
                }
            }
        }
    }
}

fn hits(web: &Web, visit: &Visit, form: &SearchForm, found: &SearchPage, boards: &[BoardWithCount]) -> Markup {
    let s = SearchTexts::in_language(visit.preferences.lang);
    html! {
        @if found.partial { p.notice role="status" { (s.partial) } }
        @if found.items.is_empty() {
            p.empty {
                @if form.after.is_some() { (s.no_more) } @else { (texts::nothing_found(visit.preferences.lang, form.q.trim())) }
            }
            @if form.after.is_none() { p.hint { (s.try_other_words) } }
        }
        ol.entries.hits {
            @for item in &found.items { li { (hit(web, visit, s, item, boards)) } }
        }
        @if let Some(next) = found.next {
            p.more { a.button rel="next nofollow" href=(address(form, &next.to_string())) { (s.more) } }
        }
    }
}

fn hit(web: &Web, visit: &Visit, s: &SearchTexts, item: &SearchItem, boards: &[BoardWithCount]) -> Markup {
    let board = boards.iter().find(|found| found.board.board_id == item.board_id);
    let path = match item.comment_id {
        Some(comment) => format!("/comments/{comment}"),
        None => format!("/articles/{}", item.article_id),
    };
    html! {
        p.said {
            // Escaped where it was marked.
            a href=(path) { bdi { (PreEscaped(&item.title_html)) } }
            @if item.kind == Kind::Comment { " " span.quiet { (s.in_comment) } }
        }
        p.excerpt { bdi { (PreEscaped(&item.excerpt_html)) } }
        p.facts {
            a href={ "/members/" (item.writer.member_id) } { bdi { (item.writer.name) } }
            span { (web.time.whole(item.created_at)) }
            @if let Some(found) = board { a href={ "/b/" (found.board.slug) } { bdi { (found.board.title) } } }
            @if visit.is(item.writer.member_id) { span { (s.yours) } }
        }
    }
}

/// The same search from a place on.
fn address(form: &SearchForm, after: &str) -> String {
    let mut address = format!("/search?q={}", encoded(form.q.trim()));
    let kept = [
        ("kind", &form.kind),
        ("sort", &form.sort),
        ("board_id", &form.board_id),
        ("writer_id", &form.writer_id),
        ("period", &form.period),
    ];
    for (name, value) in kept {
        if let Some(value) = value.as_deref().filter(|value| !value.is_empty()) {
            address.push_str(&format!("&{name}={}", encoded(value)));
        }
    }
    address.push_str(&format!("&after={}", encoded(after)));
    address
}
