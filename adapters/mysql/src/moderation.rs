//! The log of moderation and what members report, on MySQL. Acts are written by whoever does what they tell of, in the same
//! transaction and on the same server; a list asks every server of a database. Reports are small global data, and live on
//! the home shard of the members' database.

use std::sync::LazyLock;

use async_trait::async_trait;
use madang_board::{Act, ActId, ActKind, ArticleId, BoardId, MemberId, Report, ReportId, Reported, Resolution};
use madang_engine_mysql::{Cells, Many, SqlError, Tx, Values, bytes, transact};
use madang_kernel::{Id, PageSize, Scroll, ShardId, StoreError, Timestamp};
use madang_member::{ActSource, ModerationStore, NewReport, ResolveReport};

use crate::several_servers::{Part, from_each, newest_of_all};
use crate::{Mysql, named};

static INSERT_ACT: LazyLock<Many> = LazyLock::new(|| Many::parse(include_str!("../sql/moderation/insert_act.sql")));
const ACTS: &str = include_str!("../sql/moderation/acts.sql");
const ACTS_ON_BOARD: &str = include_str!("../sql/moderation/acts_on_board.sql");
const INSERT_REPORT: &str = include_str!("../sql/moderation/insert_report.sql");
const FIND_REPORT: &str = include_str!("../sql/moderation/find_report.sql");
const FIND_REPORT_OF: &str = include_str!("../sql/moderation/find_report_of.sql");
const REPORTS: &str = include_str!("../sql/moderation/reports.sql");
const REPORTS_ON_BOARD: &str = include_str!("../sql/moderation/reports_on_board.sql");
const RESOLVE: &str = include_str!("../sql/moderation/resolve.sql");

/// Reports and acts in the members' database.
#[derive(Clone)]
pub struct MysqlModeration {
    members: Mysql,
}

/// The acts in a database of any service that writes some.
#[derive(Clone)]
pub struct MysqlActs {
    db: Mysql,
}

impl MysqlModeration {
    /// The store in the members' database.
    pub fn new(members: Mysql) -> Self {
        Self { members }
    }
}

impl MysqlActs {
    /// The acts in `db`.
    pub fn new(db: Mysql) -> Self {
        Self { db }
    }
}

#[async_trait]
impl ModerationStore for MysqlModeration {
    async fn report(&self, new: NewReport) -> Result<Report, StoreError> {
        let report = new.report;
        let stored: Result<Report, SqlError> =
            transact!(self.members, ShardId::HOME, |tx| insert_report(&mut tx, report.clone()));
        Ok(stored?)
    }

    async fn find_report(&self, report: ReportId) -> Result<Option<Report>, StoreError> {
        let home = self.members.server_of(ShardId::HOME);
        let found = self.members.read(home, FIND_REPORT, vec![report.raw().into()]).await?.pop();
        Ok(found.map(report_row).transpose()?)
    }

    async fn reports(
        &self,
        open: bool,
        board: Option<BoardId>,
        before: Option<ReportId>,
        size: PageSize,
    ) -> Result<Scroll<Report, ReportId>, StoreError> {
        let below = before.map_or(i64::MAX, Id::raw);
        let mut values: Values = board.map(|board| board.raw().into()).into_iter().collect();
        values.extend([open.into(), below.into(), (size.get() + 1).into()]);
        let statement = if board.is_some() { REPORTS_ON_BOARD } else { REPORTS };
        let rows = self.members.read(self.members.server_of(ShardId::HOME), statement, values).await?;
        let found = rows.into_iter().map(report_row).collect::<Result<Vec<_>, _>>()?;
        Ok(Scroll::from_surplus(found, size, |report| report.report_id))
    }

    async fn resolve(&self, resolve: ResolveReport) -> Result<Option<Report>, StoreError> {
        let settled: Result<Option<Report>, SqlError> =
            transact!(self.members, ShardId::HOME, |tx| resolve_report(&mut tx, &resolve));
        Ok(settled?)
    }
}

#[async_trait]
impl ActSource for MysqlModeration {
    async fn acts(
        &self,
        board: Option<BoardId>,
        before: Option<ActId>,
        size: PageSize,
    ) -> Result<Scroll<Act, ActId>, StoreError> {
        MysqlActs::new(self.members.clone()).acts(board, before, size).await
    }
}

#[async_trait]
impl ActSource for MysqlActs {
    async fn acts(
        &self,
        board: Option<BoardId>,
        before: Option<ActId>,
        size: PageSize,
    ) -> Result<Scroll<Act, ActId>, StoreError> {
        let part = Part {
            sql: if board.is_some() { ACTS_ON_BOARD } else { ACTS },
            values: board.map(|board| board.raw().into()).into_iter().collect(),
            read: act_row,
            cursor: |act: &Act| act.act_id.raw(),
            shard: |act| act.act_id.shard(),
        };
        let told = from_each(&self.db, &part, before.map_or(i64::MAX, Id::raw), size.get() as usize + 1).await?;
        Ok(newest_of_all(told, size, |act| act.act_id))
    }
}

/// Writes acts in the transaction of what they tell of. An act's id carries the shard of that.
pub(crate) async fn record(tx: &mut Tx<'_>, acts: impl IntoIterator<Item = &Act>) -> Result<(), SqlError> {
    let rows = acts.into_iter().map(|act| {
        vec![
            act.act_id.shard().number().into(),
            act.act_id.raw().into(),
            bytes(act.kind.name()),
            act.moderator_id.raw().into(),
            bytes(act.moderator_name.as_str()),
            act.subject.into(),
            act.board_id.map(Id::raw).into(),
            act.acted_at.as_millis().into(),
            bytes(act.detail.as_str()),
            bytes(act.reason.as_str()),
        ]
    });
    let rows: Vec<Values> = rows.collect();
    tx.insert_many(&INSERT_ACT, rows).await
}

async fn insert_report(tx: &mut Tx<'_>, report: Report) -> Result<Report, SqlError> {
    let (kind, subject) = report.reported.columns();
    let values = vec![
        report.report_id.raw().into(),
        bytes(kind),
        subject.into(),
        report.article_id.raw().into(),
        report.board_id.raw().into(),
        report.reporter_id.raw().into(),
        bytes(report.reporter_name.as_str()),
        report.reported_at.as_millis().into(),
        bytes(report.reason.as_str()),
    ];
    if tx.write(INSERT_REPORT, values).await? == 1 {
        return Ok(report);
    }
    let earlier = vec![bytes(kind), subject.into(), report.reporter_id.raw().into()];
    let found = tx.first(FIND_REPORT_OF, earlier).await?;
    report_row(found.ok_or_else(|| SqlError::defect("a report was neither stored nor there before"))?)
}

async fn resolve_report(tx: &mut Tx<'_>, resolve: &ResolveReport) -> Result<Option<Report>, SqlError> {
    let Resolution { moderator_id, note, resolved_at } = &resolve.resolution;
    let report = resolve.report_id.raw();
    let values = vec![moderator_id.raw().into(), resolved_at.as_millis().into(), bytes(note.as_str()), report.into()];
    if tx.write(RESOLVE, values).await? == 1 {
        record(tx, [&resolve.act]).await?;
    }
    tx.first(FIND_REPORT, vec![report.into()]).await?.map(report_row).transpose()
}

/// Columns: id, kind, subject, article, board, reporter, their name, reported, reason, resolved by, resolved, note.
fn report_row(mut cells: Cells) -> Result<Report, SqlError> {
    let report_id = ReportId::from_raw(cells.next()?);
    let (kind, subject): (String, i64) = (cells.next()?, cells.next()?);
    let reported = named("kind of report", &kind, |kind| Reported::of_columns(kind, subject))?;
    let mut report = Report {
        report_id,
        reported,
        article_id: ArticleId::from_raw(cells.next()?),
        board_id: BoardId::from_raw(cells.next()?),
        reporter_id: MemberId::from_raw(cells.next()?),
        reporter_name: cells.next()?,
        reported_at: Timestamp::from_millis(cells.next()?),
        reason: cells.next()?,
        resolution: None,
    };
    let (by, at): (Option<i64>, Option<i64>) = (cells.next()?, cells.next()?);
    let note: Option<String> = cells.next()?;
    if let (Some(by), Some(at), Some(note)) = (by, at, note) {
        let (moderator_id, resolved_at) = (MemberId::from_raw(by), Timestamp::from_millis(at));
        report.resolution = Some(Resolution { moderator_id, note, resolved_at });
    }
    Ok(report)
}

/// Columns: id, kind, moderator, their name, subject, board, acted, detail, reason.
fn act_row(mut cells: Cells) -> Result<Act, SqlError> {
    let act_id = ActId::from_raw(cells.next()?);
    Ok(Act {
        act_id,
        kind: named("kind of act", &cells.next::<String>()?, ActKind::named)?,
        moderator_id: MemberId::from_raw(cells.next()?),
        moderator_name: cells.next()?,
        subject: cells.next()?,
        board_id: cells.next::<Option<i64>>()?.map(BoardId::from_raw),
        acted_at: Timestamp::from_millis(cells.next()?),
        detail: cells.next()?,
        reason: cells.next()?,
    })
}
