//! `madang backup`: copies the files of a site while it is served, into one archive that is whole or not there.
//!
//! The copy is made by this process and not by the server: it runs at the lowest priority, and writes where its own user
//! may. `source` has the files kept as they must be, `archive` copies them, `directory` knows names and retention.
//! `extract` and `restore` are the way back.

mod archive;
mod args;
mod directory;
mod extract;
pub(crate) mod hold;
mod manifest;
mod pace;
mod restore;
mod source;
mod wal;

use std::io::Seek as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use jiff::Timestamp;
use madang_kernel::{Clock as _, SystemClock};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use self::archive::Copied;
pub(crate) use self::args::{BackupArgs, RestoreArgs};
use self::directory::{Destination, Partial};
use self::manifest::{FORMAT, Manifest};
use self::pace::Pace;
pub(crate) use self::restore::restore;
use super::console::Console;
use super::control::ControlRequest;
use super::output::Output;
use super::run::here;
use crate::config::data_directory::DataDirectory;
use crate::config::{Settings, keys};

/// What a command adds to its niceness: everybody else comes first.
const NICENESS: i32 = 19;
/// Nothing was compared that differs, and not everything could be compared: groups were still behind the log.
const NOT_COMPARED: u8 = 2;

/// Makes this thread, and every one that it starts from now on, the last to get a processor.
pub(crate) fn yield_to_others() {
    // A system that refuses makes the copy no worse.
    let _ = rustix::process::nice(NICENESS);
}

/// Makes a backup, or one after another until it is stopped.
pub(crate) async fn backup(args: &BackupArgs, settings: &Settings) -> anyhow::Result<u8> {
    refuse_cluster(settings)?;
    let destination = Destination::of(&args.to, args.every.is_some() || args.keep.is_some())?;
    let mut backup = Backup { args, settings, destination, stop: CancellationToken::new() };
    let interrupted = interrupted()?;
    tokio::pin!(interrupted);
    let Some(every) = args.every else {
        return tokio::select! {
            made = backup.once() => made.map(|()| 0),
            () = &mut interrupted => bail!("interrupted: nothing was kept of the backup"),
        };
    };
    loop {
        tokio::select! {
            () = &mut interrupted => return Ok(0),
            made = backup.when_due(every) => if let Err(error) = made {
                tracing::error!("no backup was made, trying again in {every:?}: {error:#}");
                tokio::select! {
                    () = &mut interrupted => return Ok(0),
                    () = tokio::time::sleep(every) => {}
                }
            },
        }
    }
}

fn refuse_cluster(settings: &Settings) -> anyhow::Result<()> {
    if settings.cluster.is_some() {
        bail!(
            "the data of a cluster is on its servers, each of which has a way of its own to be copied: \
             docs/backup.md has the commands"
        );
    }
    Ok(())
}

async fn signalled(mut kind: tokio::signal::unix::Signal) {
    kind.recv().await;
}

/// Ends when the operator, or the system, wants no more.
fn interrupted() -> anyhow::Result<impl Future<Output = ()>> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let (interrupt, terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    Ok(async {
        tokio::select! {
            () = signalled(interrupt) => {}
            () = signalled(terminate) => {}
        }
    })
}

struct Backup<'a> {
    args: &'a BackupArgs,
    settings: &'a Settings,
    destination: Destination,
    stop: CancellationToken,
}

impl Backup<'_> {
    /// Waits until the last backup is so old, and makes one.
    async fn when_due(&mut self, every: Duration) -> anyhow::Result<()> {
        let site = keys::site_mark(&self.settings.data)?;
        let last = self.destination.backups_of(&site)?.pop();
        let age = last.and_then(|(_, begun_at)| Duration::try_from(now()?.duration_since(begun_at)).ok());
        tokio::time::sleep(every.saturating_sub(age.unwrap_or(every))).await;
        self.once().await
    }

    async fn once(&mut self) -> anyhow::Result<()> {
        let (output, mut lines) = Output::channel();
        let mut console = Console::new(None)?;
        let work = self.make(output);
        let show = async {
            while let Some(line) = lines.recv().await {
                console.show(line);
            }
        };
        let (made, ()) = tokio::join!(work, show);
        console.finish()?;
        made
    }

    async fn make(&self, output: Output) -> anyhow::Result<()> {
        let data = &self.settings.data;
        if !data.join(madang_sqlite::DATABASE_FILE).is_file() {
            bail!("there is no site in {}: name its data directory with --data", data.display());
        }
        let site = keys::site_mark(data)?;
        self.destination.remove_leftovers(&site)?;
        let began = Instant::now();
        let begun_at = now().context("the clock of this machine is out of range")?;
        let name = self.destination.name(&site, begun_at);
        let partial = Partial::begin(self.destination.directory(), &site, &name)?;
        let manifest = Manifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            site: site.clone(),
            begun_at: begun_at.to_string(),
            name,
            keys: self.args.with_keys,
        };
        let copied = source::with_files_kept(data, async || self.copy(&partial, manifest.clone(), &output).await).await;
        let copied = copied.map_err(|error| in_words(error, self.destination.directory()))?;
        if self.args.verify {
            self.verify(&partial, &output).await?;
        }
        let bytes = partial.file().metadata()?.len();
        let named = partial.into_named()?;
        self.tell(&output, &named, copied, bytes, began.elapsed()).await?;
        self.keep_few(&site, &output).await
    }

    /// Copies on a thread of its own, which ends when this is dropped.
    async fn copy(&self, partial: &Partial, manifest: Manifest, output: &Output) -> anyhow::Result<Copied> {
        let (data, rate, stop) = (self.settings.data.clone(), self.args.rate, self.stop.child_token());
        let (mut file, output, _ends) = (partial.file().try_clone()?, output.clone(), stop.clone().drop_guard());
        file.set_len(0).and_then(|()| file.rewind())?;
        let copying = tokio::task::spawn_blocking(move || {
            yield_to_others();
            archive::write(&data, &file, &manifest, &mut Pace::new(rate, 0, &output, &stop))
        });
        copying.await.context("the copy failed")?
    }

    /// Opens the copy as a site of its own and runs a check.
    async fn verify(&self, partial: &Partial, output: &Output) -> anyhow::Result<()> {
        output.text("verifying: opening the copy and comparing every counter with the rows it counts").await?;
        let directory = restore::Scratch::make(partial.directory_beside())?;
        let (from, into) = (partial.path().to_owned(), directory.path().to_owned());
        let extracted = tokio::task::spawn_blocking(move || restore::extract_into(&from, &into)).await;
        let cannot = || "the copy cannot be restored, and was removed";
        extracted.context("the copy cannot be read")?.with_context(cannot)?;
        let data = DataDirectory::take_existing(directory.path(), "backup --verify").with_context(cannot)?;
        let settings = Settings { data: directory.path().to_owned(), ..self.settings.clone() };
        let mut console = Console::new(None)?;
        let code = here(&ControlRequest::Check { full: true }, &settings, Some(&data), &mut console).await;
        console.finish()?;
        match code.with_context(cannot)? {
            0 | NOT_COMPARED => Ok(()),
            _ => bail!(
                "the check found differences in the copy, which was removed: run `madang check` on the site itself"
            ),
        }
    }

    async fn tell(
        &self,
        output: &Output,
        named: &Path,
        copied: Copied,
        bytes: u64,
        took: Duration,
    ) -> anyhow::Result<()> {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        output
            .text(format!(
                "wrote {}: {:.1} MB, from a database of {:.1} MB and {:.1} MB of its write-ahead log, in {:.1} s",
                named.display(),
                mb(bytes),
                mb(copied.database_bytes),
                mb(copied.wal_bytes),
                took.as_secs_f64()
            ))
            .await?;
        let keys = match self.args.with_keys {
            true => "the keys are in it: whoever can read it can sign in as anybody, so keep it as you keep a password",
            false => {
                "the keys are not in it: after a restore everybody has to sign in again (--with-keys puts them in)"
            }
        };
        output.text(keys).await?;
        Ok(())
    }

    /// Removes the oldest backups of this site.
    async fn keep_few(&self, site: &str, output: &Output) -> anyhow::Result<()> {
        let Some(keep) = self.args.keep else { return Ok(()) };
        let backups = self.destination.backups_of(site)?;
        let too_many = backups.len().saturating_sub(usize::try_from(keep)?);
        for (path, _) in backups.into_iter().take(too_many) {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            output.text(format!("removed {}", path.display())).await?;
        }
        Ok(())
    }
}

fn now() -> Option<Timestamp> {
    Timestamp::from_millisecond(SystemClock.now().as_millis()).ok()
}

/// A full disk is told as what it is.
fn in_words(error: anyhow::Error, directory: &Path) -> anyhow::Error {
    let is_full = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|cause| cause.kind() == std::io::ErrorKind::StorageFull)
    };
    if error.chain().any(is_full) {
        return error.context(format!(
            "the disk that holds {} is full: nothing was kept of the backup; free some space, or name another disk",
            directory.display()
        ));
    }
    error
}
