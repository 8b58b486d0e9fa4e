//! Hot articles: today's ten and the six days before, with the formula they are ranked by.

mod movement;

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use madang_article_read::ReadArticle;
use madang_board::ArticleId;
use madang_hot_article::{HotItem, HotList};
use maud::{Markup, html};

use crate::error::{OrRefuse as _, Refused, WebError};
use crate::layout::{NavEntry, Page, SITE_NAME, feed_link, whole};
use crate::state::{Shared, Web};
use crate::texts::Texts;
use crate::visit::Visit;
use crate::{reply, texts};

pub(crate) use movement::{Movement, Movements};

/// The list of a day, with its articles.
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
    /// The article itself.
    pub(crate) read: ReadArticle,
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

/// The list of today, or of the last day that has one.
pub(crate) async fn lately(web: &Web) -> Result<Option<HotDay>, WebError> {
    match today(web).await?.filter(|day| !day.items.is_empty()) {
        Some(day) => Ok(Some(day)),
        None => Ok(days(web).await?.into_iter().find(|day| !day.items.is_empty())),
    }
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
        description: Some(format!("{} · {SITE_NAME}", visit.texts().hot_week)),
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
            let read = found.get(&item.article_id)?.clone();
            Some(HotArticle { item, read })
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
        div.heading { h1 { (t.hot_articles) } (feed_link(visit, "/hot/feed.atom")) }
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
    let (t, lang) = (visit.texts(), visit.preferences.lang);
    html! {
        ol.hot {
            @for (place, HotArticle { item, read }) in day.items.iter().enumerate() {
                li {
                    span.name {
                        a href={ "/articles/" (item.article_id) } { bdi { (read.text.head.title) } }
                        (moved(t, day.movements.get(place).copied().unwrap_or(Movement::None)))
                    }
                    span.facts {
                        bdi { (read.text.head.writer.name) }
                        @for (words, count) in
                            [(texts::LIKES, item.like_count), (texts::COMMENTS, item.comment_count), (texts::VIEWS, item.view_count)] {
                            @if count > 0 { span { (words.say(lang, count)) } }
                        }
                        span.heat { (texts::POINTS.say(lang, item.score)) }
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
