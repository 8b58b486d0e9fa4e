//! The keys of a cluster: all of them derived from one secret, so that every process has the same without asking.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use hmac::{Hmac, KeyInit as _, Mac as _};
use madang_member::SigningKeys;
use sha2::Sha256;

use crate::config::{ClusterSettings, SECRET_BYTES_MIN};

const OTHERS: u32 = 0o077;

/// A key for each purpose.
pub(super) struct ClusterKeys {
    secret: Vec<u8>,
    token_generation: u32,
}

impl ClusterKeys {
    /// Takes the secret from the settings or its file.
    pub(super) fn read(settings: &ClusterSettings) -> anyhow::Result<Self> {
        let secret = match &settings.secret_file {
            Some(path) => secret_of(path)?,
            None => settings.secret.reveal().as_bytes().to_vec(),
        };
        if secret.len() < SECRET_BYTES_MIN {
            bail!("the secret of the cluster must have at least {SECRET_BYTES_MIN} bytes, and has {}", secret.len());
        }
        Ok(Self { secret, token_generation: settings.token_generation })
    }

    /// Signs tokens, and verifies those of the generations beside: processes are started anew one after another.
    pub(super) fn token(&self) -> SigningKeys {
        let (before, after) = (self.token_generation.checked_sub(1), self.token_generation.checked_add(1));
        let others = before.into_iter().chain(after).map(|generation| self.token_of(generation));
        SigningKeys::new(self.token_of(self.token_generation), others)
    }

    fn token_of(&self, generation: u32) -> [u8; 32] {
        match generation {
            0 => self.derive("madang token key"),
            later => self.derive(&format!("madang token key {later}")),
        }
    }

    /// Hides guests.
    pub(super) fn guest(&self) -> [u8; 32] {
        self.derive("madang guest key")
    }

    /// Opens the internal listeners.
    pub(super) fn internal(&self) -> [u8; 32] {
        self.derive("madang internal secret")
    }

    /// Opens the set-up page, at whichever process the link is opened.
    pub(super) fn setup(&self) -> [u8; 32] {
        self.derive("madang set-up token")
    }

    /// The HMAC of a label. HKDF would give other bytes for the same secret, which ends every session and divides a cluster
    /// while its processes are replaced; with one key a label it would be no stronger.
    fn derive(&self, label: &str) -> [u8; 32] {
        // HMAC takes a key of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.secret) else { return [0; 32] };
        mac.update(label.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

fn secret_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let found = std::fs::metadata(path).with_context(|| format!("cannot use the secret {shown}"))?;
    let mode = found.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        bail!("the secret {shown} can be read by others (mode {mode:o}); run: chmod 600 {shown}");
    }
    let mut secret = std::fs::read(path).with_context(|| format!("cannot read the secret {shown}"))?;
    // Editors end a line, and nobody means that as part of the secret.
    while secret.last().is_some_and(u8::is_ascii_whitespace) {
        secret.pop();
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str, mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn each_purpose_has_a_key_of_its_own_and_the_same_in_every_process() {
        let of = |secret: &str| ClusterKeys { secret: secret.as_bytes().to_vec(), token_generation: 0 };
        let keys = of("one secret");
        let all = [keys.token_of(0), keys.token_of(1), keys.guest(), keys.internal(), keys.setup()];
        for (place, key) in all.iter().enumerate() {
            assert!(!all[..place].contains(key));
        }
        assert_eq!(keys.token_of(0), of("one secret").token_of(0));
        assert_ne!(keys.token_of(0), of("another secret").token_of(0));
    }

    #[test]
    fn a_secret_that_others_can_read_is_refused_with_the_command_to_run() {
        let message = secret_of(file("x", 0o640).path()).unwrap_err().to_string();
        assert!(message.contains("chmod 600"), "{message}");
    }

    #[test]
    fn the_end_of_the_line_is_no_part_of_the_secret() {
        assert_eq!(secret_of(file("abc\r\n", 0o600).path()).unwrap(), b"abc");
    }
}
