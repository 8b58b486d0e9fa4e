//! Compares every counter of a service with the rows it counts. Runs beside the servers at work: what is compared with one
//! another is read in one snapshot, so that writers cause no false alarm, and each snapshot is short.

mod boards;
mod comments;
mod finding;
mod hot;
mod likes;
mod orphans;
mod report;
mod views;

use madang_kernel::StoreError;

pub use finding::CheckFinding;
pub use report::{CheckProgress, CheckReport, Sizes};

use crate::{Mysql, Service};

const OUTBOX: &str = include_str!("../../sql/outbox/size.sql");
const INBOX: &str = include_str!("../../sql/inbox/size.sql");
const ONCE: &str = include_str!("../../sql/idempotency/size.sql");
const DEAD_LETTERS: &str = include_str!("../../sql/dead_letter/count.sql");
const REVOCATIONS: &str = include_str!("../../sql/member/revocations_size.sql");

/// Findings reported of one check; more of them would tell nothing new.
const FINDINGS_MAX: usize = 1_000;
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

impl Mysql {
    /// Compares counters, blocks, lists and scores of this service with its rows; tells how far it is after each part.
    pub async fn check(
        &self,
        mut progress: impl FnMut(CheckProgress) + Send + Sync,
    ) -> Result<CheckReport, StoreError> {
        let report = CheckReport { sizes: self.sizes().await?, ..CheckReport::default() };
        let mut run = Run { db: self, report, done: 0, parts: 0, progress: &mut progress };
        match self.service() {
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
    pub async fn sizes(&self) -> Result<Sizes, StoreError> {
        let has_once = matches!(self.service(), Service::Article | Service::Comment);
        Ok(Sizes {
            outbox: self.sum(OUTBOX).await?,
            inbox: self.sum(INBOX).await?,
            idempotency: if has_once { self.sum(ONCE).await? } else { 0 },
            dead_letters: self.sum(DEAD_LETTERS).await?,
            revocations: if self.service() == Service::Member { self.sum(REVOCATIONS).await? } else { 0 },
        })
    }

    async fn sum(&self, count: &str) -> Result<u64, StoreError> {
        let mut sum = 0;
        for server in self.servers() {
            for mut cells in self.read(server, count, Vec::new()).await? {
                sum += cells.next::<u64>()?;
            }
        }
        Ok(sum)
    }
}

impl Run<'_> {
    fn found(&mut self, finding: CheckFinding) {
        if self.report.findings.len() < FINDINGS_MAX {
            self.report.findings.push(finding);
        }
    }

    fn parts(&mut self, parts: usize) {
        self.parts = parts as u64;
    }

    fn part_done(&mut self) {
        self.done += 1;
        (self.progress)(CheckProgress { parts_done: self.done, parts: self.parts, rows: self.report.rows() });
    }
}
