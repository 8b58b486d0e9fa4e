//! What the pages are given of a site, and the end of the streams that their readers hold open.

use std::convert::Infallible;
use std::sync::Arc;

use anyhow::Context as _;
use jiff::tz::TimeZone;
use madang_messaging::{Ladders, OnError, Stop, Supervisor};
use madang_server::RequestPolicy;
use madang_web::{LiveHub, WebState};

use super::readiness::{SiteHistory, SiteReadiness};
use crate::composition::site::Site;
use crate::config::Settings;
use crate::tasks::consumers;
use crate::telemetry::Metrics;

/// The state of the pages.
pub(crate) fn state(
    site: &Site,
    settings: &Settings,
    policy: RequestPolicy,
    metrics: Metrics,
) -> anyhow::Result<WebState> {
    let services = &site.services;
    Ok(WebState {
        members: services.members()?.clone(),
        moderation: services.moderation()?.clone(),
        articles: services.articles()?.clone(),
        comments: services.comments()?.clone(),
        likes: services.likes()?.clone(),
        views: services.views()?.clone(),
        read: services.read()?.clone(),
        hot: services.hot()?.clone(),
        search: services.search()?.clone(),
        guests: site.guests.clone(),
        live: Arc::new(site.live.clone()),
        readiness: Arc::new(SiteReadiness(site.clone())),
        history: Arc::new(SiteHistory(metrics)),
        policy,
        clock: site.clock.clone(),
        zone: TimeZone::get(&settings.time_zone).context("setting `time_zone`")?,
        dead_letters: site.dead_letters.clone(),
        log: site.log.clone(),
        ladders: Ladders::of(&consumers::all(site)),
        setup_token: Some(site.setup_token.clone()),
    })
}

/// Ends every open stream when HTTP stops: otherwise the drain would wait for people to close their browsers.
pub(crate) fn end_streams(http: &Supervisor, live: LiveHub) {
    http.spawn("live-streams", OnError::Restart, move |stop: Stop| {
        let live = live.clone();
        async move {
            stop.cancelled().await;
            live.close();
            Ok::<(), Infallible>(())
        }
    });
}
