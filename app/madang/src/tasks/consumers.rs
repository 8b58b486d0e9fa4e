//! The consumer groups of this process: which topics each reads, and what applies their events.

use std::sync::Arc;

use madang_article_read::ReadConsumer;
use madang_event::Topic;
use madang_hot_article::HotConsumer;
use madang_messaging::{Consumer, ConsumerConfig, GroupId, Handler, OnError, Outage, Supervisor};
use madang_search::SearchConsumer;

use crate::composition::site::Site;
use crate::config::roles::Role;

/// The group that cleans up comments of deleted articles.
pub(crate) const COMMENT_GROUP: &str = "comment";
/// The group that cleans up their likes.
pub(crate) const LIKE_GROUP: &str = "like";
/// The group that cleans up their view counts.
pub(crate) const VIEW_GROUP: &str = "view";
/// The group that keeps the scores of hot articles.
pub(crate) const HOT_GROUP: &str = "hot-article";
/// The group that keeps the query model.
pub(crate) const READ_GROUP: &str = "article-read";
/// The group that keeps the search index.
pub(crate) const SEARCH_GROUP: &str = "search";
/// Deliveries in one batch of a group that folds a whole batch into one step: after a pause it has much to catch up with.
const FOLDED_BATCH_MAX: usize = 2_048;

/// How long events gather, in milliseconds, where each batch costs round trips to servers.
const GATHER_MS: u64 = 20;

/// Starts the groups of this process's roles.
pub(crate) async fn start(supervisor: &Supervisor, site: &Site) -> Result<(), Outage> {
    let groups = groups(site);
    let configs: Vec<_> = groups.iter().map(|(_, config, _)| config.clone()).collect();
    site.backing.prepare_groups(&configs).await?;
    let gather_ms = if site.backing.is_shared() { GATHER_MS } else { 0 };
    for (name, config, handler) in groups {
        let config = ConsumerConfig { gather_ms, ..config };
        let consumer = Consumer::new(config, site.log.clone(), handler, site.clock.clone());
        site.groups.add(name, consumer.pause_handle(), consumer.stuck_handle());
        supervisor.spawn(name, OnError::Restart, move |stop| consumer.clone().run(stop));
    }
    Ok(())
}

type Group = (&'static str, ConsumerConfig, Arc<dyn Handler>);

/// Each group of a role with what applies its events.
fn groups(site: &Site) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut add = |role, config, handler: Option<Arc<dyn Handler>>| {
        if let Some(handler) = handler.filter(|_| site.roles.has(role)) {
            groups.push((role.name(), config, handler));
        }
    };
    let comments = site
        .stores
        .comments
        .clone()
        .map(|store| madang_comment::article_deletions(store, site.services.article_lookup.clone()));
    add(Role::Comment, config(COMMENT_GROUP), comments.map(handler));
    let likes = site
        .stores
        .likes
        .clone()
        .map(|store| madang_like::article_deletions(store, site.services.article_lookup.clone(), site.ids.clone()));
    add(Role::Like, config(LIKE_GROUP), likes.map(handler));
    add(
        Role::View,
        config(VIEW_GROUP),
        site.services.views.clone().map(|views| handler(madang_view::article_deletions(views))),
    );
    let (clock, days) = (&site.clock, &site.days);
    let scores = |store| HotConsumer::new(store, clock.clone(), days.clone(), GroupId::new(HOT_GROUP));
    add(Role::HotArticle, config(HOT_GROUP), site.stores.hot.clone().map(|store| handler(scores(store))));
    add(Role::ArticleRead, config(READ_GROUP), Some(handler(ReadConsumer::new(site.read_model.clone()))));
    let search = site.stores.search.clone();
    let search = search.map(|(index, owners)| handler(SearchConsumer::new(index, owners, GroupId::new(SEARCH_GROUP))));
    add(Role::Search, config(SEARCH_GROUP), search);
    groups
}

fn handler(handler: impl Handler + 'static) -> Arc<dyn Handler> {
    Arc::new(handler)
}

/// The groups of all roles, as every process names them. Without a search engine there is none for search.
pub(crate) fn all(site: &Site) -> Vec<ConsumerConfig> {
    let search = site.services.search.as_ref().filter(|search| search.is_configured()).map(|_| SEARCH_GROUP);
    [COMMENT_GROUP, LIKE_GROUP, VIEW_GROUP, HOT_GROUP, READ_GROUP].into_iter().chain(search).map(config).collect()
}

/// What a group reads, and how.
pub(crate) fn config(group: &'static str) -> ConsumerConfig {
    let topics: &[Topic] = match group {
        HOT_GROUP => &Topic::ALL,
        READ_GROUP => &[Topic::Article, Topic::Comment, Topic::Like],
        SEARCH_GROUP => &[Topic::Article, Topic::Comment],
        _ => &[Topic::Article],
    };
    let topics = topics.iter().map(|topic| topic.name().to_owned()).collect();
    let config = ConsumerConfig::new(GroupId::new(group), topics);
    match group {
        HOT_GROUP | READ_GROUP => ConsumerConfig { batch_max: FOLDED_BATCH_MAX, ..config },
        _ => config,
    }
}
