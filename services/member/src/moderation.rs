//! Use cases of moderation: members report, moderators settle reports and read what was done.

use std::sync::Arc;

use async_trait::async_trait;
use madang_kernel::rules::{About, Action, may};
use madang_kernel::{
    Act, ActId, ActKind, Actor, ArticleId, ArticleLookup, Clock, Id, IdGenerator, PageSize, Reason, Report, ReportId,
    Reported, Resolution, Scroll, ShardId, StoreError,
};

use crate::MemberError;

/// A report to keep. One that its reporter has made before is kept once.
#[derive(Debug, Clone)]
pub struct NewReport {
    /// The report, open.
    pub report: Report,
}

/// A report to settle.
#[derive(Debug, Clone)]
pub struct ResolveReport {
    /// The report.
    pub report_id: ReportId,
    /// How it is settled.
    pub resolution: Resolution,
    /// What the log of moderation says about it.
    pub act: Act,
}

/// Where reports are kept and what moderators did is read. Acts are written by the stores that do what they tell of; no
/// method changes or removes one.
#[async_trait]
pub trait ModerationStore: Send + Sync {
    /// Keeps a report; of one that the reporter made about the same thing before, the earlier is returned.
    async fn report(&self, new: NewReport) -> Result<Report, StoreError>;
    /// One report.
    async fn find_report(&self, report: ReportId) -> Result<Option<Report>, StoreError>;
    /// Open or settled reports before `before`, or the newest, newest first.
    async fn reports(
        &self,
        open: bool,
        before: Option<ReportId>,
        size: PageSize,
    ) -> Result<Scroll<Report, ReportId>, StoreError>;
    /// Settles a report, with its act. One that is settled already stays as it is, and so does the log; `None` when there is
    /// no such report.
    async fn resolve(&self, resolve: ResolveReport) -> Result<Option<Report>, StoreError>;
    /// Acts before `before`, or the newest, newest first.
    async fn acts(&self, before: Option<ActId>, size: PageSize) -> Result<Scroll<Act, ActId>, StoreError>;
}

/// Reports and the log of moderation.
pub struct Moderation {
    store: Arc<dyn ModerationStore>,
    articles: Arc<dyn ArticleLookup>,
    ids: Arc<IdGenerator>,
    clock: Arc<dyn Clock>,
}

impl Moderation {
    /// A service over a store, which asks `articles` what exists.
    pub fn new(
        store: Arc<dyn ModerationStore>,
        articles: Arc<dyn ArticleLookup>,
        ids: Arc<IdGenerator>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { store, articles, ids, clock }
    }

    /// Reports an article, or a comment of it that the caller knows to exist; `None` when there is no such article.
    pub async fn report(
        &self,
        actor: &Actor,
        reported: Reported,
        article: ArticleId,
        reason: &str,
    ) -> Result<Option<Report>, MemberError> {
        may(actor, Action::Report, About::NOTHING)?;
        let reason = Reason::required(reason)?.into_string();
        let Some(facts) = self.articles.facts(article).await? else { return Ok(None) };
        let report = Report {
            report_id: self.next_id()?,
            reported,
            article_id: article,
            board_id: facts.board_id,
            reporter_id: actor.member_id,
            reporter_name: actor.name.clone(),
            reason,
            reported_at: self.clock.now(),
            resolution: None,
        };
        Ok(Some(self.store.report(NewReport { report }).await?))
    }

    /// What was reported, newest first (moderators of the site).
    pub async fn reports(
        &self,
        actor: &Actor,
        open: bool,
        before: Option<ReportId>,
        size: PageSize,
    ) -> Result<Scroll<Report, ReportId>, MemberError> {
        may(actor, Action::ReadReports, About::NOTHING)?;
        Ok(self.store.reports(open, before, size).await?)
    }

    /// Settles a report (a moderator of its board, or of the site); `None` when there is no such report.
    pub async fn resolve(
        &self,
        actor: &Actor,
        report: ReportId,
        note: Option<&str>,
    ) -> Result<Option<Report>, MemberError> {
        let Some(found) = self.store.find_report(report).await? else {
            // Who may settle no report at all is told so, whether this one exists or not.
            may(actor, Action::ResolveReport, About { own: false, board: actor.moderates.first().copied() })?;
            return Ok(None);
        };
        may(actor, Action::ResolveReport, About::on(found.board_id, false))?;
        let note = Reason::optional(note)?.into_string();
        let resolved_at = self.clock.now();
        let mut act = Act::of(actor, self.next_id()?, ActKind::ReportResolved, report.raw(), resolved_at);
        (act.board_id, act.reason) = (Some(found.board_id), note.clone());
        let resolution = Resolution { moderator_id: actor.member_id, note, resolved_at };
        Ok(self.store.resolve(ResolveReport { report_id: report, resolution, act }).await?)
    }

    /// What moderators did, newest first (moderators of the site).
    pub async fn log(
        &self,
        actor: &Actor,
        before: Option<ActId>,
        size: PageSize,
    ) -> Result<Scroll<Act, ActId>, MemberError> {
        may(actor, Action::ReadLog, About::NOTHING)?;
        Ok(self.store.acts(before, size).await?)
    }

    fn next_id<T: Id>(&self) -> Result<T, StoreError> {
        Ok(self.ids.next(ShardId::HOME)?)
    }
}
