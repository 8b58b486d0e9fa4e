//! `madang copy`: moves a site from its data directory to a cluster. Ids stay as they are; a run that was interrupted goes
//! on where it stopped; in the end the rows of both are counted and compared.

mod catch_up;
mod ends;

use anyhow::{Context as _, bail};
use madang_mysql::{Begun, ImportTable, Progress};
use madang_sqlite::{ExportTable, Fate, TABLES};

use self::ends::{Source, Target, cells, key_text, key_values};
use crate::commands::output::Output;
use crate::config::Settings;
use crate::config::data_directory::DataDirectory;

/// What is to be copied, and how.
pub(crate) struct Copy<'a> {
    /// The data directory, which is ours.
    pub(crate) data: &'a DataDirectory,
    /// The settings of the site in it.
    pub(crate) from: &'a Settings,
    /// The settings of the cluster.
    pub(crate) to: &'a Settings,
    /// Rows in one step.
    pub(crate) slice: usize,
}

impl Copy<'_> {
    /// Copies, or goes on; 1 when the two ends differ afterwards.
    pub(crate) async fn run(&self, output: &Output) -> anyhow::Result<u8> {
        let Some(cluster) = &self.to.cluster else {
            bail!("the file given by --to has no section [cluster]: it must be the configuration of a cluster")
        };
        if self.from.time_zone != self.to.time_zone {
            let (from, to) = (&self.from.time_zone, &self.to.time_zone);
            output.text(format!(
                "the site's time zone is {from} and the cluster's is {to}: the days of its hot lists will begin at another hour"
            )).await?;
        }
        catch_up::wait(self.from, self.data, output).await?;
        let source = Source::open(self.data)?;
        let target = Target::open(cluster).await?;
        let outcome = self.between(&source, &target, output).await;
        target.import.close().await;
        source.database.close().await;
        outcome
    }

    async fn between(&self, source: &Source, target: &Target, output: &Output) -> anyhow::Result<u8> {
        let state = madang_sqlite::export_state(&source.database).await?;
        let mut done = match target.import.begin(&source.site, &ends::digest(&state)).await? {
            Begun::Finished => {
                output.text("nothing to do: this site has already been copied to this cluster").await?;
                return Ok(0);
            }
            Begun::Anew => Default::default(),
            Begun::Again(done) => {
                let rows: u64 = done.values().map(|table| table.rows).sum();
                output.text(format!("continuing after the {rows} rows that were copied before")).await?;
                done
            }
        };
        for table in TABLES {
            let Fate::Moved(table) = table.fate else { continue };
            let total = state.counts.iter().find(|(name, _)| name == table.name).map_or(0, |(_, rows)| *rows);
            let before = done.remove(table.name);
            self.table(source, target, table, before, total, output).await.with_context(|| {
                format!("the copy stopped in the table {}: run the command again to continue", table.name)
            })?;
        }
        let revocation = state.marks.iter().find(|(name, _)| name == "revocation").map_or(0, |(_, last)| *last);
        target.import.go_on_above(state.ids_end_ms, revocation).await?;
        if self.differ(&state.counts, target, output).await? {
            return Ok(1);
        }
        target.import.finish().await?;
        say_what_now(output).await?;
        Ok(0)
    }

    /// Moves the rest of one table; the next slice is read while one is written.
    async fn table(
        &self,
        source: &Source,
        target: &Target,
        table: ExportTable,
        before: Option<Progress>,
        total: u64,
        output: &Output,
    ) -> anyhow::Result<()> {
        let to = ImportTable::named(table.name).context("a cluster has no such table")?;
        let mut done = before.as_ref().map_or(0, |before| before.rows);
        let after = before.map(|before| key_values(&before.last_key)).transpose()?;
        let mut rows = madang_sqlite::export(&source.database, table, after, self.slice).await?;
        while let Some(last) = rows.last().map(|row| table.key_of(row)) {
            done += rows.len() as u64;
            let progress = Progress { last_key: key_text(&last)?, rows: done };
            let cells = rows.into_iter().map(cells).collect::<anyhow::Result<_>>()?;
            let (next, taken) = tokio::join!(
                madang_sqlite::export(&source.database, table, Some(last), self.slice),
                target.import.take(to, cells, &progress),
            );
            taken?;
            output.progress(table.name, done, total);
            rows = next?;
        }
        Ok(())
    }

    /// Counts both ends and says so; whether they differ.
    async fn differ(&self, counts: &[(String, u64)], target: &Target, output: &Output) -> anyhow::Result<bool> {
        let there = target.import.counts().await?;
        output.text(format!("{:<24}{:>14}{:>14}", "rows of", "here", "in the cluster")).await?;
        let mut differ = false;
        for (table, here) in counts {
            let there = there.get(table).copied().unwrap_or(0);
            output.text(format!("{table:<24}{here:>14}{there:>14}")).await?;
            if *here != there {
                differ = true;
                output.finding(format!("{table}: {here} rows here, {there} in the cluster")).await?;
            }
        }
        Ok(differ)
    }
}

async fn say_what_now(output: &Output) -> anyhow::Result<()> {
    for line in [
        "copied: both sides have the same rows; `madang check --config FILE` compares the counters of the cluster",
        "everybody has to sign in again, with the same name and password: the cluster derives its keys from its own secret",
        "do not start a server on this data directory any more: what is written there would not reach the cluster",
    ] {
        output.text(line).await?;
    }
    Ok(())
}
