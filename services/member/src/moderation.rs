//! Use cases of moderation: members report, moderators settle reports and read what was done.

use std::sync::Arc;

use async_trait::async_trait;
use madang_board::rules::{About, Action, may};
use madang_board::{
    Act, ActId, ActKind, Actor, ArticleId, ArticleLookup, BoardId, BoardLookup, CommentLookup, MemberId, Reason,
    Report, ReportId, Reported, Resolution,
};
use madang_kernel::{Clock, Id, IdGenerator, PageSize, Scroll, ShardId, StoreError};

use crate::{Member, MemberError, MemberService};

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

/// Tells what moderators did, as far as one store wrote it: each writes the acts of its own changes, with the change.
#[async_trait]
pub trait ActSource: Send + Sync {
    /// Acts on a board, or all, before `before`, or the newest, newest first.
    async fn acts(
        &self,
        board: Option<BoardId>,
        before: Option<ActId>,
        size: PageSize,
    ) -> Result<Scroll<Act, ActId>, StoreError>;
}

/// Where reports are kept, with the acts of settling them and of changing members. No method changes or removes an act.
#[async_trait]
pub trait ModerationStore: ActSource {
    /// Keeps a report; of one that the reporter made about the same thing before, the earlier is returned.
    async fn report(&self, new: NewReport) -> Result<Report, StoreError>;
    /// One report.
    async fn find_report(&self, report: ReportId) -> Result<Option<Report>, StoreError>;
    /// Open or settled reports of a board, or all, before `before`, or the newest, newest first.
    async fn reports(
        &self,
        open: bool,
        board: Option<BoardId>,
        before: Option<ReportId>,
        size: PageSize,
    ) -> Result<Scroll<Report, ReportId>, StoreError>;
    /// Settles a report, with its act. One that is settled already stays as it is, and so does the log; `None` when there is
    /// no such report.
    async fn resolve(&self, resolve: ResolveReport) -> Result<Option<Report>, StoreError>;
}

/// What moderation asks others: what exists, and what they wrote into the log.
#[derive(Clone)]
pub struct Moderated {
    /// The owner of articles.
    pub articles: Arc<dyn ArticleLookup>,
    /// The owner of boards.
    pub boards: Arc<dyn BoardLookup>,
    /// The owner of comments.
    pub comments: Arc<dyn CommentLookup>,
    /// Acts of stores other than the one that keeps reports; none where all of them share one.
    pub acts: Vec<Arc<dyn ActSource>>,
}

/// Reports, moderators of boards, and the log of moderation.
pub struct Moderation {
    store: Arc<dyn ModerationStore>,
    members: Arc<MemberService>,
    moderated: Moderated,
    ids: Arc<IdGenerator>,
    clock: Arc<dyn Clock>,
}

impl Moderation {
    /// A service over a store, beside the members whose moderators it appoints.
    pub fn new(store: Arc<dyn ModerationStore>, members: Arc<MemberService>, moderated: Moderated) -> Self {
        let (ids, clock) = (members.ids.clone(), members.clock.clone());
        Self { store, members, moderated, ids, clock }
    }

    /// Reports an article or a comment; `None` when there is none such.
    pub async fn report(&self, actor: &Actor, reported: Reported, reason: &str) -> Result<Option<Report>, MemberError> {
        may(actor, Action::Report, About::NOTHING)?;
        let reason = Reason::required(reason)?.into_string();
        let Some(article) = self.article_of(reported).await? else { return Ok(None) };
        let Some(facts) = self.moderated.articles.facts(article).await? else { return Ok(None) };
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

    async fn article_of(&self, reported: Reported) -> Result<Option<ArticleId>, StoreError> {
        match reported {
            Reported::Article(article) => Ok(Some(article)),
            Reported::Comment(comment) => self.moderated.comments.article_of(comment).await,
        }
    }

    /// What was reported on a board (its moderators), or on the site (moderators of the site), newest first.
    pub async fn reports(
        &self,
        actor: &Actor,
        open: bool,
        board: Option<BoardId>,
        before: Option<ReportId>,
        size: PageSize,
    ) -> Result<Scroll<Report, ReportId>, MemberError> {
        may(actor, Action::ReadReports, About { own: false, board })?;
        Ok(self.store.reports(open, board, before, size).await?)
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

    /// What moderators did on a board (its moderators), or on the site (moderators of the site), newest first.
    pub async fn log(
        &self,
        actor: &Actor,
        board: Option<BoardId>,
        before: Option<ActId>,
        size: PageSize,
    ) -> Result<Scroll<Act, ActId>, MemberError> {
        may(actor, Action::ReadLog, About { own: false, board })?;
        let mut steps = vec![self.store.acts(board, before, size).await?];
        for source in &self.moderated.acts {
            steps.push(source.acts(board, before, size).await?);
        }
        Ok(merged(steps, size))
    }

    /// Makes a member moderator of a board (administrators); `None` when there is no such board.
    pub async fn appoint(
        &self,
        actor: &Actor,
        board: BoardId,
        member: MemberId,
    ) -> Result<Option<Member>, MemberError> {
        may(actor, Action::AppointModerator, About::NOTHING)?;
        if !self.moderated.boards.has_board(board).await? {
            return Ok(None);
        }
        Ok(Some(self.members.appoint(actor, board, member).await?))
    }

    /// Who moderates a board; `None` when there is no such board.
    pub async fn moderators(&self, board: BoardId) -> Result<Option<Vec<Member>>, MemberError> {
        if !self.moderated.boards.has_board(board).await? {
            return Ok(None);
        }
        Ok(Some(self.members.moderators(board).await?))
    }

    /// Takes a board from its moderator (administrators); `None` when there is no such board.
    pub async fn dismiss(
        &self,
        actor: &Actor,
        board: BoardId,
        member: MemberId,
    ) -> Result<Option<Member>, MemberError> {
        may(actor, Action::AppointModerator, About::NOTHING)?;
        if !self.moderated.boards.has_board(board).await? {
            return Ok(None);
        }
        Ok(Some(self.members.dismiss(actor, board, member).await?))
    }

    fn next_id<T: Id>(&self) -> Result<T, StoreError> {
        Ok(self.ids.next(ShardId::HOME)?)
    }
}

/// One step of the log out of the steps of its parts: the newest of all are among the newest of each.
fn merged(steps: Vec<Scroll<Act, ActId>>, size: PageSize) -> Scroll<Act, ActId> {
    let size = size.get() as usize;
    let has_more = steps.iter().any(|step| step.next.is_some());
    let mut items: Vec<Act> = steps.into_iter().flat_map(|step| step.items).collect();
    items.sort_by_key(|act| std::cmp::Reverse(act.act_id));
    let has_more = has_more || items.len() > size;
    items.truncate(size);
    let next = items.last().map(|act| act.act_id).filter(|_| has_more);
    Scroll { items, next }
}

#[cfg(test)]
mod tests {
    use madang_board::Role;

    use super::*;

    fn step(ids: &[i64], size: usize) -> Scroll<Act, ActId> {
        let moderator = Actor::new(MemberId::from_raw(1), "anna", Role::Moderator);
        let act = |id: &i64| {
            Act::of(&moderator, ActId::from_raw(*id), ActKind::RoleGiven, 1, madang_kernel::Timestamp::from_millis(1))
        };
        let items: Vec<Act> = ids.iter().take(size).map(act).collect();
        let next = items.last().map(|act| act.act_id).filter(|_| ids.len() > size);
        Scroll { items, next }
    }

    #[test]
    fn a_log_of_several_parts_leaves_nothing_out_and_tells_nothing_twice() {
        let parts = [vec![90, 80, 31, 30, 10], vec![85, 84, 83, 82, 81, 5], vec![], vec![7]];
        let mut all: Vec<i64> = parts.concat();
        all.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        for size in 1..=13 {
            let (mut told, mut before) = (Vec::new(), None);
            loop {
                let below = |id: &&i64| before.is_none_or(|before: ActId| **id < before.raw());
                let steps = parts.iter().map(|part| {
                    let left: Vec<i64> = part.iter().filter(below).copied().collect();
                    step(&left, size)
                });
                let page = PageSize::new("limit", size as i64).unwrap();
                let Scroll { items, next } = merged(steps.collect(), page);
                assert!(items.len() <= size);
                told.extend(items.iter().map(|act| act.act_id.raw()));
                before = next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(told, all, "in steps of {size}");
        }
    }
}
