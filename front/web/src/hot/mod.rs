//! Hot articles: today's ten and the six days before, with the formula they are ranked by.

mod movement;

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use madang_board::ArticleId;
use madang_hot_article::{HotItem, HotList};
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::layout::{NavEntry, Page, whole};
use crate::reply;
use crate::state::{Shared, Web};
use crate::texts::Texts;
use crate::visit::Visit;

pub(crate) use movement::{Movement, Movements};

/// The list of a day, with titles.
pub(crate) struct HotDay {
    /// The day, as `yyyy-mm-dd`.
    pub(crate) date: String,
    /// Whether nothing but a deletion can change it any more.
    pub(crate) is_final: bool,
    /// Best first.
    pub(crate) items: Vec<HotArticle>,
    /// How each moved lately; empty for a day that is over.
    pub(crate) movements: Vec<Movement>,
}

/// An article of a list.
pub(crate) struct HotArticle {
    /// Its counts of the day.
    pub(crate) item: HotItem,
    /// Its title.
    pub(crate) title: String,
    /// Its writer's name.
    pub(crate) writer: String,
    /// When it was written.
    pub(crate) created_at: madang_kernel::Timestamp,
}

/// The lists of the last days, newest first, without what is gone.
pub(crate) async fn days(web: &Web) -> Result<Vec<HotDay>, WebError> {
    titled(web, web.site.hot.days().await?).await
}

/// The list of today.
pub(crate) async fn today(web: &Web) -> Result<Option<HotDay>, WebError> {
    let lists: Vec<_> = web.site.hot.days().await?.into_iter().take(1).collect();
    Ok(titled(web, lists).await?.pop())
}

/// The page.
pub(crate) async fn hot(State(web): State<Shared>, mut visit: Visit) -> Result<Response, Refused> {
    visit.here = "/hot".to_owned();
    let miss = match web.pages.find(&visit, web.site.read.generation()) {
        Ok(page) => return Ok(reply::cached(&visit, &page).await),
        Err(miss) => miss,
    };
    let days = days(&web).await.or_refuse(&web, &visit)?;
    let page = Page {
        title: visit.texts().hot_articles,
        main: view(&visit, &days),
        canonical: Some("/hot".to_owned()),
        feed: Some("/hot/feed.atom".to_owned()),
        nav: NavEntry::Hot,
        ..Page::default()
    };
    let html = whole(&web, &visit, &page);
    Ok(reply::shared(&web, &visit, miss, html).await)
}

async fn titled(web: &Web, lists: Vec<HotList>) -> Result<Vec<HotDay>, WebError> {
    let ids: Vec<ArticleId> = lists.iter().flat_map(|list| &list.items).map(|item| item.article_id).collect();
    let read = web.site.read.articles(&ids).await?;
    let found: HashMap<_, _> = ids.into_iter().zip(read).filter_map(|(id, read)| Some((id, read?))).collect();
    let days = lists.into_iter().map(|list| {
        let HotList { date, is_final, items } = list.shown(|article| found.contains_key(&article));
        let items = items.into_iter().filter_map(|item| {
            let head = &found.get(&item.article_id)?.text.head;
            let (title, writer) = (head.title.clone(), head.writer.name.clone());
            Some(HotArticle { item, title, writer, created_at: head.created_at })
        });
        HotDay { date: date.to_string(), is_final, items: items.collect(), movements: Vec::new() }
    });
    let mut days: Vec<HotDay> = days.collect();
    if let Some(today) = days.first_mut() {
        let ranks: Vec<ArticleId> = today.items.iter().map(|article| article.item.article_id).collect();
        today.movements = web.movements.of(&today.date, web.site.clock.now(), &ranks);
    }
    Ok(days)
}

fn view(visit: &Visit, days: &[HotDay]) -> Markup {
    let t = visit.texts();
    html! {
        h1 { (t.hot_articles) }
        p.lead { (t.hot_week) }
        details.formula {
            summary { (t.hot_how) }
            p { strong { (t.hot_formula) } }
            p { (t.hot_rules) }
            p { (t.hot_movement) }
        }
        @for (place, day) in days.iter().enumerate() {
            section.day aria-labelledby={ "day-" (day.date) } {
                h2 id={ "day-" (day.date) } {
                    time datetime=(day.date) { (day.date) } " "
                    span.tag.quiet { (if day.is_final { t.hot_final } else { t.hot_live }) }
                }
                @if day.items.is_empty() { p.empty { (if place == 0 { t.hot_empty_today } else { t.hot_empty_day }) } }
                @else { (ranked(visit, day)) }
            }
        }
    }
}

/// The list itself.
pub(crate) fn ranked(visit: &Visit, day: &HotDay) -> Markup {
    let t = visit.texts();
    html! {
        ol.hot {
            @for (place, HotArticle { item, title, writer, .. }) in day.items.iter().enumerate() {
                li {
                    span.name {
                        a href={ "/articles/" (item.article_id) } { bdi { (title) } }
                        (moved(t, day.movements.get(place).copied().unwrap_or(Movement::None)))
                    }
                    span.facts {
                        bdi { (writer) }
                        span { (t.likes) " " (item.like_count) }
                        span { (t.comments) " " (item.comment_count) }
                        span { (t.views) " " (item.view_count) }
                        span.heat { (t.score) " " (item.score) }
                    }
                }
            }
        }
    }
}

/// An arrow for those who see it, a word for those who do not.
fn moved(t: &Texts, movement: Movement) -> Markup {
    let arrow = |class: &str, sign: &str, word: &str, by: usize| {
        html! { " " span class={ "moved " (class) } { span aria-hidden="true" { (sign) (by) } span.vh { (word) " " (by) } } }
    };
    match movement {
        Movement::None => html! {},
        Movement::Up(by) => arrow("up", "▲", t.moved_up, by),
        Movement::Down(by) => arrow("down", "▼", t.moved_down, by),
        Movement::New => html! { " " span.moved.up { span aria-hidden="true" { "●" } span.vh { (t.moved_in) } } },
    }
}
