//! Where a backup reads from: a data directory that is ours for the while, or one whose server keeps its files fit for
//! copying.

use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use tokio::sync::oneshot;

use crate::commands::control::{self, ControlError, ControlRequest};
use crate::commands::output::OutputLine;
use crate::commands::run::{SERVER_LOOK, SERVER_WAIT};
use crate::config::data_directory::{DataDirectory, DataDirectoryError, last_taken};

/// Runs `copy` while the files of a data directory are fit for copying, and makes sure that they were until it ended. Where
/// nobody serves the site it is not locked either: a server must not wait for a backup. One that was started meanwhile is
/// noticed, and the copy made again.
pub(super) async fn with_files_kept<T>(
    data: &Path,
    mut copy: impl AsyncFnMut() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let mut deadline = Instant::now() + SERVER_WAIT;
    loop {
        let in_use = match DataDirectory::take_existing(data, "backup") {
            Ok(directory) => {
                let taken = directory.into_last_taken()?;
                let copied = copy().await?;
                if last_taken(data)? == taken {
                    return Ok(copied);
                }
                // Somebody has come meanwhile: once more, beside them.
                deadline = Instant::now() + SERVER_WAIT;
                continue;
            }
            Err(error @ DataDirectoryError::InUse { .. }) => error,
            Err(error) => return Err(error.into()),
        };
        let (held, mut hold) = oneshot::channel();
        let mut held = Some(held);
        let asking = control::ask(data, &ControlRequest::BackupHold, |line| {
            if let (OutputLine::Held(number), Some(held)) = (line, held.take()) {
                let _ = held.send(number);
            }
        });
        tokio::pin!(asking);
        let ended = tokio::select! {
            biased;
            Ok(number) = &mut hold => {
                let copied = tokio::select! {
                    copied = copy() => copied?,
                    ended = &mut asking => return Err(gave_up(ended)),
                };
                // The connection stays open until the server has said that the files were kept all the time.
                let released = control::ask(data, &ControlRequest::BackupRelease { hold: number }, |_| {}).await;
                released.map_err(|error| gave_up(Err(error)))?;
                return Ok(copied);
            }
            ended = &mut asking => ended,
        };
        match ended {
            Err(ControlError::NobodyListens(_)) if Instant::now() < deadline => tokio::time::sleep(SERVER_LOOK).await,
            Err(ControlError::NobodyListens(_)) => {
                bail!("{in_use}, which does not respond: try again when that process has ended")
            }
            ended => return Err(gave_up(ended)),
        }
    }
}

fn gave_up(ended: Result<u8, ControlError>) -> anyhow::Error {
    match ended {
        Ok(_) => anyhow::anyhow!("the server stopped keeping its files before they were copied: run the command again"),
        Err(error) => anyhow::Error::from(error)
            .context("the server stopped keeping its files before they were copied: run the command again"),
    }
}
