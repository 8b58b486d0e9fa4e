//! `madang manual`: man pages and completions of shells, written from the command line itself, so that they cannot differ.

use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_complete::Shell;

use super::cli::Cli;

/// The shells that Debian has a place for.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

/// Writes `man1/*.1` and `completions/*` below a directory.
pub(crate) fn write(directory: &Path) -> anyhow::Result<()> {
    let (pages, completions) = (directory.join("man1"), directory.join("completions"));
    for folder in [&pages, &completions] {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    clap_mangen::generate_to(Cli::command(), &pages).with_context(|| format!("cannot write to {}", pages.display()))?;
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut Cli::command(), "madang", &completions)
            .with_context(|| format!("cannot write to {}", completions.display()))?;
    }
    Ok(())
}
