//! Secret keys on disk: made once, readable by nobody else, refused when they are.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use madang_member::{SIGNING_KEYS_MAX, SigningKeys};
use sha2::Sha256;

use super::data_directory::own_like;

const KEY_BYTES: usize = 32;
const KEY_MODE: u32 = 0o600;
const KEYS_MODE: u32 = 0o700;
const OTHERS: u32 = 0o077;
const TOKEN_KEYS: &str = "token.key";
const GUEST_KEY: &str = "guest.key";
const SITE_MARK_BYTES: usize = 16;
/// Keys that a rotation leaves, the new one included.
const KEPT_KEYS: usize = 4;

const _: () = assert!(KEPT_KEYS <= SIGNING_KEYS_MAX);

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeyError {
    /// Others can read it; whoever did can sign tokens, or find out who a guest was.
    #[error("other users can read the key {} (mode {mode:o}): run `chmod 600 {}` and start again", path.display(), path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is not a key of ours.
    #[error("the key {} is damaged: it does not consist of keys of {KEY_BYTES} bytes. Restore it from a copy, or remove it to have a new one created (a new token.key signs everybody out)", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot use the key {}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The keys of tokens, the first made at the first start. The file holds one after another, the newest first: that one
/// signs, and all of them verify.
pub(crate) fn token_keys(data: &Path) -> Result<SigningKeys, KeyError> {
    let path = data.join("keys").join(TOKEN_KEYS);
    let bytes = keys_in(data, TOKEN_KEYS)?;
    let (keys, rest) = bytes.as_chunks::<KEY_BYTES>();
    match keys {
        [newest, others @ ..] if rest.is_empty() && keys.len() <= SIGNING_KEYS_MAX => {
            Ok(SigningKeys::new(*newest, others.iter().copied()))
        }
        _ => Err(KeyError::Damaged { path }),
    }
}

/// Puts a new key in front of those that sign and verify tokens, and lets go of all but the last few; returns how many there
/// are. A server that runs takes it over when it is started again.
pub(crate) fn rotate_token_key(data: &Path) -> Result<usize, KeyError> {
    // Read and judged as at a start: a damaged file is not made worse.
    token_keys(data)?;
    let (keys, path) = (data.join("keys"), data.join("keys").join(TOKEN_KEYS));
    let mut bytes = rand::random::<[u8; KEY_BYTES]>().to_vec();
    bytes.extend(keys_in(data, TOKEN_KEYS)?);
    bytes.truncate(KEPT_KEYS * KEY_BYTES);
    write_once(&keys, &path, &bytes).map_err(|source| KeyError::Unusable { path, source })?;
    Ok(bytes.len() / KEY_BYTES)
}

/// The key under which guests are hashed, made at the first start.
pub(crate) fn guest_key(data: &Path) -> Result<[u8; KEY_BYTES], KeyError> {
    key(data, GUEST_KEY)
}

/// Tells a site from every other, and nothing about its keys. Not by the key that signs, which is exchanged now and then.
pub(crate) fn site_mark(data: &Path) -> Result<String, KeyError> {
    let key = guest_key(data)?;
    let path = data.join("keys").join(GUEST_KEY);
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|_| KeyError::Damaged { path })?;
    mac.update(b"madang site");
    Ok(hex::encode(&mac.finalize().into_bytes()[..SITE_MARK_BYTES]))
}

fn key(data: &Path, name: &str) -> Result<[u8; KEY_BYTES], KeyError> {
    let path = data.join("keys").join(name);
    keys_in(data, name)?.try_into().map_err(|_| KeyError::Damaged { path })
}

fn keys_in(data: &Path, name: &str) -> Result<Vec<u8>, KeyError> {
    let keys = data.join("keys");
    let path = keys.join(name);
    let unusable = |source| KeyError::Unusable { path: path.clone(), source };
    match std::fs::metadata(&path) {
        Ok(found) => {
            let mode = found.permissions().mode() & 0o777;
            if mode & OTHERS != 0 {
                return Err(KeyError::Exposed { path, mode });
            }
            std::fs::read(&path).map_err(unusable)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(KEYS_MODE).create(&keys).map_err(unusable)?;
            own_like(data, &keys).map_err(unusable)?;
            let key: [u8; KEY_BYTES] = rand::random();
            write_once(&keys, &path, &key).map_err(unusable)?;
            Ok(key.to_vec())
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
    own_like(keys, &unfinished)?;
    std::fs::rename(&unfinished, path)?;
    File::open(keys)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_for_its_owner_only() {
        let data = tempfile::tempdir().unwrap();
        token_keys(data.path()).unwrap();
        let key = bytes(&data);
        token_keys(data.path()).unwrap();
        assert_eq!(bytes(&data), key);
        assert_ne!(key, [0; KEY_BYTES]);
        let mode = std::fs::metadata(data.path().join("keys/token.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, KEY_MODE);
    }

    fn bytes(data: &tempfile::TempDir) -> Vec<u8> {
        std::fs::read(data.path().join("keys/token.key")).unwrap()
    }

    #[test]
    fn a_rotation_puts_a_new_key_first_and_keeps_the_last_few() {
        let data = tempfile::tempdir().unwrap();
        token_keys(data.path()).unwrap();
        for kept in [2, 3, 4, 4, 4] {
            let before = bytes(&data);
            assert_eq!(rotate_token_key(data.path()).unwrap(), kept);
            let after = bytes(&data);
            assert!(token_keys(data.path()).is_ok() && after.len() == kept * KEY_BYTES);
            let (new, old) = after.split_at(KEY_BYTES);
            assert!(before.starts_with(old) && !before.starts_with(new));
        }
        let mode = std::fs::metadata(data.path().join("keys/token.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, KEY_MODE);
    }

    /// As anybody but root nothing can be given away, and nothing is made for others.
    #[test]
    fn what_root_makes_belongs_to_the_owner_of_the_site() {
        use std::os::unix::fs::MetadataExt as _;
        let owner = if rustix::process::geteuid().is_root() { 65_534 } else { rustix::process::geteuid().as_raw() };
        let data = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(data.path(), Some(owner), None).unwrap();
        token_keys(data.path()).unwrap();
        rotate_token_key(data.path()).unwrap();
        for made in ["keys", "keys/token.key"] {
            assert_eq!(std::fs::metadata(data.path().join(made)).unwrap().uid(), owner, "{made}");
        }
    }

    #[test]
    fn each_purpose_has_a_key_of_its_own() {
        let data = tempfile::tempdir().unwrap();
        token_keys(data.path()).unwrap();
        assert_ne!(bytes(&data), guest_key(data.path()).unwrap());
        let mode = std::fs::metadata(data.path().join("keys/guest.key")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, KEY_MODE);
    }

    #[test]
    fn a_key_that_others_can_read_is_refused_with_the_command_to_run() {
        let data = tempfile::tempdir().unwrap();
        token_keys(data.path()).unwrap();
        let path = data.path().join("keys/token.key");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let message = token_keys(data.path()).err().unwrap().to_string();
        assert!(message.contains(&format!("chmod 600 {}", path.display())), "{message}");
    }

    #[test]
    fn a_damaged_key_is_refused() {
        let data = tempfile::tempdir().unwrap();
        token_keys(data.path()).unwrap();
        std::fs::write(data.path().join("keys/token.key"), b"short").unwrap();
        assert!(matches!(token_keys(data.path()), Err(KeyError::Damaged { .. })));
    }
}
