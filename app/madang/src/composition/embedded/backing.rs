//! What stands behind the ports of an embedded site: one file with rows and log, and the query model in memory.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use madang_article_read::ReadService;
use madang_board::check::CheckReport;
use madang_event::Envelope;
use madang_kernel::{IDEMPOTENCY_KEPT_MS, Timestamp};
use madang_member::{MemberStore as _, forgettable_at};
use madang_memory::MemoryReadModel;
use madang_messaging::{AfterCommit, ConsumerConfig, OnError, Outage};
use madang_server::PartState;
use madang_sqlite::{GroupLag, RetentionOptions, Sqlite, SqliteArticles, SqliteLog};
use madang_web::LiveHub;
use tracing::info;

use super::check;
use super::disk::Disk;
use super::kept::KeptDatabase;
use super::stores::EmbeddedStores;
use crate::commands::output::Output;
use crate::composition::site::{Backing, GroupLagText, KeptFiles, SeedStore, Site, Stages};
use crate::config::Settings;
use crate::tasks::consumers::READ_GROUP;
use crate::tasks::failure_log::FailureLog;
use crate::tasks::lag;
use crate::tasks::running_groups::GROUP;
use crate::tasks::upkeep::{every, warn_on_error};

/// How often the lag of groups is shown.
const LAG_EVERY: Duration = Duration::from_secs(5);

/// The file and what is made of it.
pub(super) struct Embedded {
    pub(super) database: Sqlite,
    pub(super) disk: Disk,
    pub(super) log: SqliteLog,
    pub(super) stores: EmbeddedStores,
    pub(super) model: Arc<MemoryReadModel>,
}

/// What every commit of this process reaches before its callers are answered.
struct OwnCommits {
    model: Arc<MemoryReadModel>,
    read: Option<Arc<ReadService>>,
    live: LiveHub,
}

#[async_trait]
impl AfterCommit<Envelope> for OwnCommits {
    fn committed(&self, events: &[Envelope]) {
        self.model.merge_committed(events);
        if let Some(read) = &self.read {
            read.note_committed(events);
        }
        self.live.publish(events);
    }
}

#[async_trait]
impl Backing for Embedded {
    fn is_shared(&self) -> bool {
        false
    }

    /// From here on people read their own writes: the model has a change before whoever made it is answered.
    fn start(&self, site: &Site, stages: &Stages<'_>) {
        let log = self.log.clone();
        stages.background.spawn("lags", OnError::Restart, move |stop| {
            let (log, mut failures) = (log.clone(), FailureLog::of("read the lag of consumer groups"));
            every(LAG_EVERY, stop, async move || {
                for lag in failures.note(log.lag().await).unwrap_or_default() {
                    lag::show(lag.group.as_str(), lag.topics.entries, lag.rungs.entries);
                }
            })
        });
        let (model, read, live) = (self.model.clone(), site.services.read.clone(), site.live.clone());
        self.database.after_commit(Arc::new(OwnCommits { model, read, live }));
    }

    /// The query model starts empty, so its group starts at the end of the log.
    async fn prepare_groups(&self, groups: &[ConsumerConfig]) -> Result<(), Outage> {
        for group in groups.iter().filter(|group| group.group.as_str() == READ_GROUP) {
            self.log.forget_group(&group.group).await?;
            self.log.register_group_at_head(&group.group, &group.topics).await?;
        }
        Ok(())
    }

    async fn parts(&self, site: &Site) -> Vec<PartState> {
        let (writes, lags) = tokio::join!(self.disk.takes_writes(), self.log.lag());
        let mut parts = vec![
            part("store", writes),
            part("log", lags.as_ref().map(|lags| format!("{} consumer groups", lags.len())).map_err(unreadable)),
            crate::serve::readiness::ids(site),
            crate::serve::readiness::sessions(site),
        ];
        // A group that is behind is no reason to send readers elsewhere: what it keeps is old, and says how old.
        parts.extend(lags.unwrap_or_default().iter().map(|lag| group(site, lag)));
        parts
    }

    /// Nor is one that is stuck.
    fn can_serve(&self, parts: &[PartState]) -> bool {
        parts.iter().all(|part| part.ok || part.name.starts_with(GROUP))
    }

    async fn is_caught_up(&self, group: &ConsumerConfig, now: Timestamp) -> Result<bool, Outage> {
        self.log.caught_up(&group.group, &group.topics, now).await
    }

    async fn groups(&self, _site: &Site) -> anyhow::Result<Vec<GroupLagText>> {
        let lags = self.log.lag().await?;
        let progress = |lag: &GroupLag| GroupLagText { name: lag.group.to_string(), lag: lag::describe(lag) };
        Ok(lags.iter().map(progress).collect())
    }

    async fn keep_files(&self) -> anyhow::Result<Box<dyn KeptFiles>> {
        Ok(Box::new(KeptDatabase::new(self.database.keep_wal().await?, self.disk.directory())))
    }

    async fn forget_old(&self, _site: &Site, settings: &Settings, now: Timestamp) {
        match self.log.trim(retention(settings), now).await {
            Ok(trimmed) if trimmed.removed > 0 => info!(removed = trimmed.removed, "trimmed the event log"),
            outcome => warn_on_error("trim the event log", outcome),
        }
        let before = Timestamp::from_millis(now.as_millis() - IDEMPOTENCY_KEPT_MS);
        warn_on_error("remove old idempotency keys", self.stores.articles.purge_once(before).await);
        warn_on_error("remove ended sessions", self.stores.members.forget_expired(forgettable_at(now)).await);
    }

    fn holds_query_model(&self, site: &Site) -> bool {
        !site.groups.names().is_empty()
    }

    async fn check(&self, site: &Site, full: bool, output: &Output) -> anyhow::Result<CheckReport> {
        check::check(&self.database, site, full, output).await
    }

    fn seed_store(&self, in_background: bool) -> anyhow::Result<SeedStore> {
        Ok(SeedStore::OneByOne(match in_background {
            true => Arc::new(SqliteArticles::in_background(self.database.clone())),
            false => Arc::new(SqliteArticles::new(self.database.clone())),
        }))
    }

    async fn close(&self) {
        self.database.clone().close().await;
    }
}

fn retention(settings: &Settings) -> RetentionOptions {
    RetentionOptions {
        keep_rows: settings.event_log_keep_rows,
        keep_for: Duration::from_secs(settings.event_log_keep_for_s),
        hard_max_rows: settings.event_log_hard_max_rows,
        ..RetentionOptions::default()
    }
}

fn group(site: &Site, lag: &GroupLag) -> PartState {
    site.groups.part(lag.group.as_str(), lag::describe(lag))
}

/// A log that cannot be read; why not is in the log of the process, where errors of databases belong.
fn unreadable(outage: &Outage) -> &'static str {
    tracing::debug!("the event log cannot be read: {outage}");
    "cannot be read"
}

fn part<E: std::fmt::Display>(name: &str, state: Result<String, E>) -> PartState {
    let (ok, detail) = match state {
        Ok(detail) => (true, detail),
        Err(error) => (false, error.to_string()),
    };
    PartState { name: name.to_owned(), ok, detail }
}
