//! Secret keys on disk: made once, readable by nobody else, refused when they are.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

const KEY_BYTES: usize = 32;
const KEY_MODE: u32 = 0o600;
const KEYS_MODE: u32 = 0o700;
const OTHERS: u32 = 0o077;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Others can read it; whoever did can sign tokens, or find out who a guest was.
    #[error("the key {} can be read by others (mode {mode:o}); run: chmod 600 {}", path.display(), path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is not a key of ours.
    #[error("the key {} is not {KEY_BYTES} bytes long; restore it, or remove it for a new one (a new token.key signs everybody out)", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot use the key {}: {source}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The key that signs tokens, made at the first start.
pub fn token_key(data: &Path) -> Result<[u8; KEY_BYTES], KeyError> {
    key(data, "token.key")
}

/// The key under which guests are hashed, made at the first start.
pub fn guest_key(data: &Path) -> Result<[u8; KEY_BYTES], KeyError> {
    key(data, "guest.key")
}

fn key(data: &Path, name: &str) -> Result<[u8; KEY_BYTES], KeyError> {
    let keys = data.join("keys");
    let path = keys.join(name);
    let unusable = |source| KeyError::Unusable { path: path.clone(), source };
    match std::fs::metadata(&path) {
        Ok(found) => {
            let mode = found.permissions().mode() & 0o777;
            if mode & OTHERS != 0 {
                return Err(KeyError::Exposed { path, mode });
            }
            let bytes = std::fs::read(&path).map_err(unusable)?;
            bytes.try_into().map_err(|_| KeyError::Damaged { path })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(KEYS_MODE).create(&keys).map_err(unusable)?;
            let key: [u8; KEY_BYTES] = rand::random();
            write_once(&keys, &path, &key).map_err(unusable)?;
            Ok(key)
        }
        Err(error) => Err(unusable(error)),
    }
}

/// Writes under another name first: a crash leaves no half of a key behind.
fn write_once(keys: &Path, path: &Path, key: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("new");
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(KEY_MODE).open(&unfinished)?;
    file.write_all(key)?;
    file.sync_all()?;
    std::fs::rename(&unfinished, path)?;
    File::open(keys)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_its_owner_only() {
        let data = tempfile::tempdir().unwrap();
        let key = token_key(data.path()).unwrap();
        assert_eq!(token_key(data.path()).unwrap(), key);
        assert_ne!(key, [0; KEY_BYTES]);
        let mode = std::fs::metadata(data.path().join("keys/token.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, KEY_MODE);
    }

    #[test]
    fn each_purpose_has_a_key_of_its_own() {
        let data = tempfile::tempdir().unwrap();
        assert_ne!(token_key(data.path()).unwrap(), guest_key(data.path()).unwrap());
        let mode = std::fs::metadata(data.path().join("keys/guest.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, KEY_MODE);
    }

    #[test]
    fn a_key_that_others_can_read_is_refused_with_the_command_to_run() {
        let data = tempfile::tempdir().unwrap();
        token_key(data.path()).unwrap();
        let path = data.path().join("keys/token.key");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let message = token_key(data.path()).unwrap_err().to_string();
        assert!(message.contains(&format!("chmod 600 {}", path.display())), "{message}");
    }

    #[test]
    fn a_damaged_key_is_refused() {
        let data = tempfile::tempdir().unwrap();
        token_key(data.path()).unwrap();
        std::fs::write(data.path().join("keys/token.key"), b"short").unwrap();
        assert!(matches!(token_key(data.path()), Err(KeyError::Damaged { .. })));
    }
}
