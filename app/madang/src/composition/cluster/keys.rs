//! The keys of a cluster: all of them derived from one secret and the cluster's name, so that every process has the same
//! without asking, and a rehearsal under another name has others.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit as _, Mac as _};
use madang_http::InternalSecret;
use madang_member::SigningKeys;
use sha2::Sha256;

use crate::config::{ClusterSettings, NamelessKeys, SECRET_BYTES_MIN};

const OTHERS: u32 = 0o077;

/// A key for each purpose.
pub(super) struct ClusterKeys {
    secret: Vec<u8>,
    name: String,
    token_generation: u32,
    nameless: NamelessKeys,
}

/// How a key follows from the secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Derivation {
    /// HKDF with the name of the cluster.
    Named,
    /// The HMAC of a label, as it was before: the same for every name.
    Nameless,
}

impl ClusterKeys {
    /// Takes the secret from the settings or its file.
    pub(super) fn read(settings: &ClusterSettings) -> anyhow::Result<Self> {
        let secret = match &settings.secret_file {
            Some(path) => secret_of(path)?,
            None => settings.secret.reveal().as_bytes().to_vec(),
        };
        if secret.len() < SECRET_BYTES_MIN {
            bail!("the secret of the cluster must be at least {SECRET_BYTES_MIN} bytes long, but has {}", secret.len());
        }
        let (token_generation, nameless) = (settings.token_generation, settings.nameless_keys);
        Ok(Self { secret, name: settings.name.clone(), token_generation, nameless })
    }

    /// Signs tokens, and verifies those of the generations beside: processes are started anew one after another.
    pub(super) fn token(&self) -> SigningKeys {
        let (before, after) = (self.token_generation.checked_sub(1), self.token_generation.checked_add(1));
        let beside = || before.into_iter().chain(after);
        let own = beside().map(|generation| self.token_of(generation, self.own()));
        let of_both = |derivation| {
            let generations = std::iter::once(self.token_generation).chain(beside());
            generations.map(move |generation| self.token_of(generation, derivation))
        };
        SigningKeys::new(
            self.token_of(self.token_generation, self.own()),
            own.chain(self.other().into_iter().flat_map(of_both)),
        )
    }

    fn token_of(&self, generation: u32, derivation: Derivation) -> [u8; 32] {
        match generation {
            0 => self.derive(derivation, "madang token key"),
            later => self.derive(derivation, &format!("madang token key {later}")),
        }
    }

    /// Hides guests.
    pub(super) fn guest(&self) -> [u8; 32] {
        self.derive(self.own(), "madang guest key")
    }

    /// Opens the internal listeners.
    pub(super) fn internal(&self) -> InternalSecret {
        let key = |derivation| self.derive(derivation, "madang internal secret");
        let secret = InternalSecret::new(key(self.own()));
        self.other().into_iter().fold(secret, |secret, other| secret.admitting(key(other)))
    }

    /// Opens the set-up page, at whichever process the link is opened.
    pub(super) fn setup(&self) -> [u8; 32] {
        self.derive(self.own(), "madang set-up token")
    }

    /// The keys that this process signs and calls with.
    fn own(&self) -> Derivation {
        if self.nameless == NamelessKeys::Use { Derivation::Nameless } else { Derivation::Named }
    }

    /// Those of others that it takes too, while a cluster rolls over.
    fn other(&self) -> Option<Derivation> {
        match self.nameless {
            NamelessKeys::Refuse => None,
            NamelessKeys::Accept => Some(Derivation::Nameless),
            NamelessKeys::Use => Some(Derivation::Named),
        }
    }

    fn derive(&self, derivation: Derivation, label: &str) -> [u8; 32] {
        let mut key = [0; 32];
        match derivation {
            // A name has no zero byte, so no name and label read as another pair. One block is never too long to ask for.
            Derivation::Named => {
                let info = [self.name.as_bytes(), b"\0", label.as_bytes()];
                let _ = Hkdf::<Sha256>::new(None, &self.secret).expand_multi_info(&info, &mut key);
            }
            // HMAC takes a key of any length.
            Derivation::Nameless => {
                if let Ok(mac) = Hmac::<Sha256>::new_from_slice(&self.secret) {
                    key = mac.chain_update(label.as_bytes()).finalize().into_bytes().into();
                }
            }
        }
        key
    }
}

fn secret_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    let found = std::fs::metadata(path).with_context(|| format!("cannot read the secret {shown}"))?;
    let mode = found.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        bail!("other users can read the secret {shown} (mode {mode:o}): run `chmod 600 {shown}` and start again");
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

    fn keys(secret: &str, name: &str, nameless: NamelessKeys) -> ClusterKeys {
        ClusterKeys { secret: secret.as_bytes().to_vec(), name: name.to_owned(), token_generation: 0, nameless }
    }

    #[test]
    fn each_purpose_has_a_key_of_its_own_and_the_same_in_every_process() {
        let of = |secret: &str| keys(secret, "madang", NamelessKeys::Refuse);
        let one = of("one secret");
        let token = |keys: &ClusterKeys, generation| keys.token_of(generation, keys.own());
        let all = [token(&one, 0), token(&one, 1), one.guest(), one.setup()];
        for (place, key) in all.iter().enumerate() {
            assert!(!all[..place].contains(key));
        }
        assert!(all.iter().all(|key| *key != [0; 32]));
        assert_eq!(token(&one, 0), token(&of("one secret"), 0));
        assert_ne!(token(&one, 0), token(&of("another secret"), 0));
    }

    #[test]
    fn one_secret_under_two_names_gives_two_sites_without_a_key_in_common() {
        let [one, other] = ["site", "rehearsal"].map(|name| keys("one secret", name, NamelessKeys::Refuse));
        assert_ne!(one.token_of(0, one.own()), other.token_of(0, other.own()));
        assert_ne!((one.guest(), one.setup()), (other.guest(), other.setup()));
        assert_eq!(
            one.token_of(0, Derivation::Nameless),
            other.token_of(0, Derivation::Nameless),
            "as it was, which is why it is refused"
        );
    }

    #[test]
    fn a_cluster_rolls_over_in_steps_of_which_each_understands_the_next() {
        let of = |nameless| keys("one secret", "site", nameless);
        let signs = |keys: &ClusterKeys| keys.own();
        let takes = |keys: &ClusterKeys, other: Derivation| keys.own() == other || keys.other() == Some(other);
        let steps = [NamelessKeys::Use, NamelessKeys::Accept].map(of);
        for one in &steps {
            for other in &steps {
                assert!(takes(one, signs(other)));
            }
        }
        assert!(takes(&of(NamelessKeys::Accept), signs(&of(NamelessKeys::Refuse))));
        assert!(!takes(&of(NamelessKeys::Refuse), Derivation::Nameless), "by default nothing of it is good");
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
