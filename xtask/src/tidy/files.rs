//! Finds the files of the workspace that people write: no build output, no hidden folders, no data directories.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Every file below `root` with one of the endings, as a path from `root` with its text.
pub(super) fn with_endings(root: &Path, endings: &[&str]) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                if is_ours(&path) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted)) {
                found.push((shown(root, &path), read(&path)?));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Build output carries a CACHEDIR.TAG wherever cargo was told to put it.
fn is_ours(folder: &Path) -> bool {
    let hidden = folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let generated = ["target", "madang-data"].iter().any(|name| folder.ends_with(name));
    !hidden && !generated && !folder.join("CACHEDIR.TAG").exists()
}

fn shown(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).map_or_else(|_| PathBuf::from(path), PathBuf::from).display().to_string()
}

fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
