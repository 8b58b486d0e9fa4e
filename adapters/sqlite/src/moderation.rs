//! The log of moderation and what members report, on SQLite. Acts are written by whoever does what they tell of, in the
//! same transaction; no statement changes or removes one, and triggers keep everybody else from it.

use async_trait::async_trait;
use madang_board::{Act, ActId, ActKind, ArticleId, BoardId, MemberId, Report, ReportId, Reported, Resolution};
use madang_engine_sqlite::Statements as _;
use madang_kernel::{Id, PageSize, Scroll, StoreError, Timestamp};
use madang_member::{ActSource, ModerationStore, NewReport, ResolveReport};
use rusqlite::{Connection, Row, params};

use crate::{Priority, Sqlite, named};

const INSERT_ACT: &str = include_str!("../sql/moderation/insert_act.sql");
const ACTS: &str = include_str!("../sql/moderation/acts.sql");
const ACTS_ON_BOARD: &str = include_str!("../sql/moderation/acts_on_board.sql");
const INSERT_REPORT: &str = include_str!("../sql/moderation/insert_report.sql");
const FIND_REPORT: &str = include_str!("../sql/moderation/find_report.sql");
const FIND_REPORT_OF: &str = include_str!("../sql/moderation/find_report_of.sql");
const REPORTS: &str = include_str!("../sql/moderation/reports.sql");
const REPORTS_ON_BOARD: &str = include_str!("../sql/moderation/reports_on_board.sql");
const RESOLVE: &str = include_str!("../sql/moderation/resolve.sql");

/// Reports and acts in one SQLite file.
#[derive(Clone)]
pub struct SqliteModeration {
    db: Sqlite,
}

impl SqliteModeration {
    /// The store in `db`.
    pub fn new(db: Sqlite) -> Self {
        Self { db }
    }
}

#[async_trait]
impl ModerationStore for SqliteModeration {
    async fn report(&self, new: NewReport) -> Result<Report, StoreError> {
        self.db.write(Priority::Foreground, move |tx| report(tx, new.report)).await
    }

    async fn find_report(&self, report: ReportId) -> Result<Option<Report>, StoreError> {
        self.db.read(move |tx| find_report(tx, report)).await
    }

    async fn reports(
        &self,
        open: bool,
        board: Option<BoardId>,
        before: Option<ReportId>,
        size: PageSize,
    ) -> Result<Scroll<Report, ReportId>, StoreError> {
        let (open, below, surplus) = (i64::from(open), before.map_or(i64::MAX, Id::raw), surplus(size));
        let found = self.db.read(move |tx| match board {
            Some(board) => tx.list(REPORTS_ON_BOARD, [board.raw(), open, below, surplus], report_row),
            None => tx.list(REPORTS, [open, below, surplus], report_row),
        });
        let found = found.await?;
        Ok(Scroll::from_surplus(found, size, |report| report.report_id))
    }

    async fn resolve(&self, resolve: ResolveReport) -> Result<Option<Report>, StoreError> {
        self.db.write(Priority::Foreground, move |tx| resolve_report(tx, &resolve)).await
    }
}

#[async_trait]
impl ActSource for SqliteModeration {
    async fn acts(
        &self,
        board: Option<BoardId>,
        before: Option<ActId>,
        size: PageSize,
    ) -> Result<Scroll<Act, ActId>, StoreError> {
        let (below, surplus) = (before.map_or(i64::MAX, Id::raw), surplus(size));
        let found = self.db.read(move |tx| match board {
            Some(board) => tx.list(ACTS_ON_BOARD, [board.raw(), below, surplus], act_row),
            None => tx.list(ACTS, [below, surplus], act_row),
        });
        let found = found.await?;
        Ok(Scroll::from_surplus(found, size, |act| act.act_id))
    }
}

/// Writes acts in the transaction of what they tell of.
pub(crate) fn record<'a>(tx: &Connection, acts: impl IntoIterator<Item = &'a Act>) -> Result<(), StoreError> {
    for act in acts {
        let row = params![
            act.act_id.raw(),
            act.kind.name(),
            act.moderator_id.raw(),
            act.moderator_name,
            act.subject,
            act.board_id.map(Id::raw),
            act.acted_at.as_millis(),
            act.detail,
            act.reason,
        ];
        tx.run(INSERT_ACT, row)?;
    }
    Ok(())
}

fn surplus(size: PageSize) -> i64 {
    i64::from(size.get()) + 1
}

fn report(tx: &Connection, report: Report) -> Result<Report, StoreError> {
    let (kind, subject) = report.reported.columns();
    let inserted = tx.run(
        INSERT_REPORT,
        params![
            report.report_id.raw(),
            kind,
            subject,
            report.article_id.raw(),
            report.board_id.raw(),
            report.reporter_id.raw(),
            report.reporter_name,
            report.reported_at.as_millis(),
            report.reason,
        ],
    )?;
    if inserted == 1 {
        return Ok(report);
    }
    tx.one(FIND_REPORT_OF, params![kind, subject, report.reporter_id.raw()], report_row)
}

fn find_report(tx: &Connection, report: ReportId) -> Result<Option<Report>, StoreError> {
    tx.find(FIND_REPORT, [report.raw()], report_row)
}

fn resolve_report(tx: &Connection, resolve: &ResolveReport) -> Result<Option<Report>, StoreError> {
    let Resolution { moderator_id, note, resolved_at } = &resolve.resolution;
    let values = params![resolve.report_id.raw(), moderator_id.raw(), resolved_at.as_millis(), note];
    if tx.run(RESOLVE, values)? == 1 {
        record(tx, [&resolve.act])?;
    }
    find_report(tx, resolve.report_id)
}

/// Columns: id, kind, subject, article, board, reporter, their name, reported, reason, resolved by, resolved, note.
fn report_row(row: &Row<'_>) -> rusqlite::Result<Report> {
    let subject = row.get(2)?;
    let reported = named(row, 1, "kind of report", |kind| Reported::of_columns(kind, subject))?;
    let resolution = match row.get::<_, Option<i64>>(9)? {
        Some(moderator) => Some(Resolution {
            moderator_id: MemberId::from_raw(moderator),
            resolved_at: Timestamp::from_millis(row.get(10)?),
            note: row.get(11)?,
        }),
        None => None,
    };
    Ok(Report {
        report_id: ReportId::from_raw(row.get(0)?),
        reported,
        article_id: ArticleId::from_raw(row.get(3)?),
        board_id: BoardId::from_raw(row.get(4)?),
        reporter_id: MemberId::from_raw(row.get(5)?),
        reporter_name: row.get(6)?,
        reported_at: Timestamp::from_millis(row.get(7)?),
        reason: row.get(8)?,
        resolution,
    })
}

/// Columns: id, kind, moderator, their name, subject, board, acted, detail, reason.
fn act_row(row: &Row<'_>) -> rusqlite::Result<Act> {
    Ok(Act {
        act_id: ActId::from_raw(row.get(0)?),
        kind: named(row, 1, "kind of act", ActKind::named)?,
        moderator_id: MemberId::from_raw(row.get(2)?),
        moderator_name: row.get(3)?,
        subject: row.get(4)?,
        board_id: row.get::<_, Option<i64>>(5)?.map(BoardId::from_raw),
        acted_at: Timestamp::from_millis(row.get(6)?),
        detail: row.get(7)?,
        reason: row.get(8)?,
    })
}
