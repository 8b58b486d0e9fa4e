//! Devices on which a member signed in before. A device holds a signed note that names the account; with it, guesses of that
//! account's password are counted by themselves, so that strangers who guess keep nobody out of their own devices.
//!
//! `d1_<key id>.<payload>.<mac>`. The note proves nothing but that: a password is needed all the same.

use madang_kernel::Timestamp;
use sha2::{Digest, Sha256};

use crate::token::Tokens;
use crate::{Sessions, name_key};

/// Of the digest of the account's name, so much is kept: whose note it is cannot be read from it.
const ACCOUNT_BYTES: usize = 16;
const PAYLOAD_BYTES: usize = 8 + 8 + ACCOUNT_BYTES;

/// A device, by the number that it was given at its first sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceId(u64);

impl DeviceId {
    /// One that nobody had.
    pub(crate) fn random() -> Self {
        Self(rand::random())
    }

    /// The number.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl Sessions {
    /// The device that a note speaks of, if we signed it for the account that somebody typed as `name`.
    pub fn device(&self, note: &str, name: &str) -> Option<DeviceId> {
        let payload = self.tokens().verify_device(note)?;
        let (device, rest) = payload.split_first_chunk()?;
        let (_signed_at, account) = rest.split_first_chunk::<8>()?;
        let is_theirs = rest.len() == PAYLOAD_BYTES - 8 && account == account_of(name).as_slice();
        is_theirs.then(|| DeviceId(u64::from_be_bytes(*device)))
    }

    /// The note for a device on which the member of this name signed in.
    pub(crate) fn device_note(&self, device: DeviceId, name: &str, now: Timestamp) -> String {
        let mut payload = Vec::with_capacity(PAYLOAD_BYTES);
        payload.extend(device.0.to_be_bytes());
        payload.extend(now.as_millis().to_be_bytes());
        payload.extend(account_of(name));
        self.tokens().sign_device(&payload)
    }
}

fn account_of(name: &str) -> [u8; ACCOUNT_BYTES] {
    let digest = Sha256::new().chain_update(b"madang device").chain_update(name_key(name)).finalize();
    let mut first = [0; ACCOUNT_BYTES];
    first.copy_from_slice(&digest[..ACCOUNT_BYTES]);
    first
}

impl Tokens {
    fn sign_device(&self, payload: &[u8]) -> String {
        self.sign_as(DEVICE_PREFIX, payload)
    }

    fn verify_device(&self, note: &str) -> Option<Vec<u8>> {
        self.verify_as(DEVICE_PREFIX, note)
    }
}

/// Another than that of tokens, and covered by the MAC: a note is no token, and a token is no note.
const DEVICE_PREFIX: &str = "d1";

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use madang_kernel::{StoreError, SystemClock};

    use super::*;
    use crate::{Revocation, RevocationCursor, RevocationSource};

    struct Nothing;

    #[async_trait]
    impl RevocationSource for Nothing {
        async fn revocations_after(
            &self,
            after: RevocationCursor,
            _: usize,
        ) -> Result<(Vec<Revocation>, RevocationCursor), StoreError> {
            Ok((Vec::new(), after))
        }
    }

    fn sessions(key: u8) -> Sessions {
        Sessions::new(Arc::new(Nothing), Arc::new(SystemClock), [key; 32])
    }

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    #[test]
    fn a_note_speaks_for_its_account_however_the_name_is_typed() {
        let (ours, device) = (sessions(7), DeviceId(9));
        let note = ours.device_note(device, "Anna", NOW);
        assert_eq!(ours.device(&note, "ａNNA"), Some(device));
        assert_eq!(ours.device(&note, "ben"), None);
        assert_eq!(sessions(8).device(&note, "anna"), None, "of a foreign key");
        assert!(ours.authenticate(&note).is_err(), "it is no token");
    }

    #[test]
    fn every_changed_or_missing_byte_is_refused() {
        let ours = sessions(7);
        let note = ours.device_note(DeviceId(9), "anna", NOW);
        for at in 0..note.len() {
            assert_eq!(ours.device(&note[..at], "anna"), None);
            let mut changed = note.clone().into_bytes();
            changed[at] = if changed[at] == b'x' { b'y' } else { b'x' };
            assert_eq!(ours.device(&String::from_utf8(changed).unwrap(), "anna"), None, "{at}");
        }
    }
}
