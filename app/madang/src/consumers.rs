//! The consumer groups of this process: who hears which events.

use std::sync::Arc;

use madang_comment::CommentCleaner;
use madang_event::Topic;
use madang_like::LikeConsumer;
use madang_messaging::{Consumer, ConsumerConfig, GroupId, Handler, OnError, Supervisor};
use madang_view::ViewConsumer;

use crate::site::Site;

/// Starts every group.
pub(crate) fn start(supervisor: &Supervisor, site: &Site) {
    let comments = CommentCleaner::new(site.comment_store.clone(), site.articles.clone());
    group(supervisor, site, "comment", &[Topic::Article], Arc::new(comments));
    let likes = LikeConsumer::new(site.like_store.clone(), site.articles.clone());
    group(supervisor, site, "like", &[Topic::Article], Arc::new(likes));
    group(supervisor, site, "view", &[Topic::Article], Arc::new(ViewConsumer::new(site.views.clone())));
}

fn group(supervisor: &Supervisor, site: &Site, name: &'static str, topics: &[Topic], handler: Arc<dyn Handler>) {
    let topics = topics.iter().map(|topic| topic.name().to_owned()).collect();
    let config = ConsumerConfig::new(GroupId::new(name), topics);
    let consumer = Consumer::new(config, Arc::new(site.log.clone()), handler, site.clock.clone());
    supervisor.spawn(name, OnError::Restart, move |stop| consumer.clone().run(stop));
}
