//! Compares every counter of a service with the rows it counts. Runs beside the servers at work: what is compared with one
//! another is read in one snapshot, so that writers cause no false alarm, and each snapshot is short.

mod boards;
mod comments;
mod hot;
mod likes;
mod views;

use madang_board::check::{CheckFinding, CheckProgress, CheckReport, TableSizes};
use madang_engine_mysql::idempotency;
use madang_kernel::StoreError;

use crate::{Mysql, Service};

const REVOCATIONS: &str = include_str!("../../sql/member/revocations_size.sql");

/// Counters compared in one snapshot.
const SLICE: u64 = 500;

/// A check under way.
struct Run<'r> {
    db: &'r Mysql,
    report: CheckReport,
    done: u64,
    parts: u64,
    progress: &'r mut (dyn FnMut(CheckProgress) + Send + Sync),
}

/// Checks the databases of one service.
pub struct MysqlCheck<'d> {
    service: Service,
    db: &'d Mysql,
}

impl<'d> MysqlCheck<'d> {
    /// A check of `db`, which must be the databases of `service`.
    pub fn new(service: Service, db: &'d Mysql) -> Self {
        Self { service, db }
    }

    /// Compares counters, blocks, lists and scores of this service with its rows; tells how far it is after each part.
    pub async fn run(&self, mut progress: impl FnMut(CheckProgress) + Send + Sync) -> Result<CheckReport, StoreError> {
        let report = CheckReport { sizes: self.sizes().await?, ..CheckReport::default() };
        let mut run = Run { db: self.db, report, done: 0, parts: 0, progress: &mut progress };
        match self.service {
            // Nothing of a member is counted.
            Service::Member => {}
            Service::Article => boards::compare(&mut run).await?,
            Service::Comment => comments::compare(&mut run).await?,
            Service::Like => likes::compare(&mut run).await?,
            Service::View => views::compare(&mut run).await?,
            Service::HotArticle => hot::compare(&mut run).await?,
        }
        Ok(run.report)
    }

    /// Rows of the tables that must stay bounded. Counts them, so ask every few minutes, not every second.
    pub async fn sizes(&self) -> Result<TableSizes, StoreError> {
        let engine = self.db.sizes().await?;
        let has_records = matches!(self.service, Service::Article | Service::Comment);
        let records = if has_records { idempotency::count(self.db).await? } else { 0 };
        let revocations = if self.service == Service::Member { self.revocations().await? } else { 0 };
        Ok(TableSizes::from([
            (TableSizes::OUTBOX, engine.outbox),
            (TableSizes::INBOX, engine.inbox),
            (TableSizes::RELAY_DEAD_LETTERS, engine.dead_letters),
            (TableSizes::IDEMPOTENCY, records),
            (TableSizes::REVOCATIONS, revocations),
        ]))
    }
}

impl MysqlCheck<'_> {
    async fn revocations(&self) -> Result<u64, StoreError> {
        let home = self.db.server_of(madang_kernel::ShardId::HOME);
        let counted = self.db.read(home, REVOCATIONS, Vec::new()).await?.pop();
        Ok(counted.map_or(Ok(0), |mut cells| cells.next())?)
    }
}

impl Run<'_> {
    fn found(&mut self, finding: impl Into<CheckFinding>) {
        self.report.found(finding);
    }

    fn parts(&mut self, parts: usize) {
        self.parts = parts as u64;
    }

    fn part_done(&mut self) {
        self.done += 1;
        (self.progress)(CheckProgress { done: self.done, total: self.parts });
    }
}
