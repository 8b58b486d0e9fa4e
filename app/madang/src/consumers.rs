//! The consumer groups of this process: who hears which events.

use std::sync::Arc;

use madang_article_read::ReadConsumer;
use madang_comment::CommentCleaner;
use madang_event::Topic;
use madang_hot_article::HotConsumer;
use madang_like::LikeConsumer;
use madang_messaging::{Consumer, ConsumerConfig, GroupId, Handler, OnError, Outage, Supervisor};
use madang_view::ViewConsumer;

use crate::hot;
use crate::site::Site;

/// The group that keeps the query model.
const READ_GROUP: &str = "article-read";
/// Deliveries in hand of a group that folds a whole batch into one step: after a pause it has much to catch up with.
const FOLDED_BATCH_MAX: usize = 2_048;

/// Starts every group. The query model is empty, so its group starts at the end of the log.
pub(crate) async fn start(supervisor: &Supervisor, site: &Site) -> Result<(), Outage> {
    let comments = CommentCleaner::new(site.comment_store.clone(), site.articles.clone());
    group(supervisor, site, config("comment", &[Topic::Article]), "comment", Arc::new(comments));
    let likes = LikeConsumer::new(site.like_store.clone(), site.articles.clone());
    group(supervisor, site, config("like", &[Topic::Article]), "like", Arc::new(likes));
    let views = ViewConsumer::new(site.views.clone());
    group(supervisor, site, config("view", &[Topic::Article]), "view", Arc::new(views));

    let scores =
        HotConsumer::new(site.hot_store.clone(), site.clock.clone(), site.days.clone(), GroupId::new(hot::GROUP));
    let config_of_hot = ConsumerConfig { batch_max: FOLDED_BATCH_MAX, ..config(hot::GROUP, &Topic::ALL) };
    group(supervisor, site, config_of_hot, hot::GROUP, Arc::new(scores));

    let config_of_read = ConsumerConfig {
        batch_max: FOLDED_BATCH_MAX,
        ..config(READ_GROUP, &[Topic::Article, Topic::Comment, Topic::Like])
    };
    site.log.forget_group(&config_of_read.group).await?;
    site.log.register_group_at_head(&config_of_read.group, &config_of_read.topics).await?;
    group(supervisor, site, config_of_read, READ_GROUP, Arc::new(ReadConsumer::new(site.read_model.clone())));
    Ok(())
}

fn config(group: &'static str, topics: &[Topic]) -> ConsumerConfig {
    ConsumerConfig::new(GroupId::new(group), topics.iter().map(|topic| topic.name().to_owned()).collect())
}

fn group(supervisor: &Supervisor, site: &Site, config: ConsumerConfig, name: &'static str, handler: Arc<dyn Handler>) {
    let consumer = Consumer::new(config, Arc::new(site.log.clone()), handler, site.clock.clone());
    site.groups.add(name, consumer.pause_handle());
    supervisor.spawn(name, OnError::Restart, move |stop| consumer.clone().run(stop));
}
