//! What `madang backup` and `madang restore` understand.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Megabytes a second that are read unless told otherwise.
const RATE_MB: u64 = 32;

/// Where a copy goes, how often, and what is in it.
#[derive(Debug, Clone, Args)]
pub(crate) struct BackupArgs {
    /// Directory to put the backup into, under a name with its time, or a file that does not exist yet
    #[arg(long, value_name = "DIR|FILE")]
    pub to: PathBuf,
    /// Go on until stopped, with a backup each time this has passed: 30m, 1h, 1d
    #[arg(long, value_name = "TIME", value_parser = interval)]
    pub every: Option<Duration>,
    /// After each backup remove the oldest ones of this site in the directory, so that N are left
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub keep: Option<u32>,
    /// Open the copy and run `madang check --full` on it before it gets its name
    #[arg(long)]
    pub verify: bool,
    /// Put the keys into the backup: whoever can read it can then sign in as anybody. Without them, everybody has to sign
    /// in again after a restore
    #[arg(long)]
    pub with_keys: bool,
    /// Megabytes to read in a second at most, so that the server beside it keeps its disk and its processors
    #[arg(long, value_name = "MB", default_value_t = RATE_MB, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub rate: u64,
}

/// What is restored; where to is the setting `data`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RestoreArgs {
    /// The backup
    #[arg(long, value_name = "FILE")]
    pub from: PathBuf,
}

/// A length of time: a whole number with s, m, h or d behind it.
fn interval(text: &str) -> Result<Duration, String> {
    let unit = |unit: char| match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(60 * 60),
        'd' => Some(24 * 60 * 60),
        _ => None,
    };
    let seconds = text.char_indices().last().and_then(|(at, last)| {
        let number: u64 = text[..at].parse().ok()?;
        number.checked_mul(unit(last)?).filter(|seconds| (1..=365 * 24 * 60 * 60).contains(seconds))
    });
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "write a whole number with s, m, h or d behind it, as in 1h".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_number_with_its_unit() {
        for (text, seconds) in [("1s", 1), ("30m", 1_800), ("1h", 3_600), ("2d", 172_800)] {
            assert_eq!(interval(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for wrong in ["", "h", "1", "0s", "-1h", "1.5h", "1w", "1시", "99999999999999999999d", "366d"] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }
}
