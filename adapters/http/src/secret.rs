//! The secret that processes of one site share. What travels is derived from it, and never shown: not in a log, not in
//! `Debug`.

use std::fmt;

use axum::http::HeaderValue;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// What the bearer token of internal calls is made of; another purpose or protocol would have another label.
const LABEL: &[u8] = b"madang internal v1";
const SCHEME: &str = "Bearer ";

/// Lets a process call its peers, and recognise them.
#[derive(Clone)]
pub struct InternalSecret {
    /// Keyed, with the label taken in: its MAC is the token. The first is ours, the others are peers' that are let in too.
    macs: Vec<Hmac<Sha256>>,
    header: HeaderValue,
}

impl InternalSecret {
    /// From a key that every process of the site has.
    pub fn new(key: [u8; 32]) -> Self {
        let mac = labelled(key);
        let token = URL_SAFE_NO_PAD.encode(mac.clone().finalize().into_bytes());
        // Base64 fits into a header; were it otherwise, the calls would be refused, not made without a secret.
        let header = HeaderValue::try_from(format!("{SCHEME}{token}"));
        let mut header = header.unwrap_or_else(|_| HeaderValue::from_static("Bearer"));
        header.set_sensitive(true);
        Self { macs: vec![mac], header }
    }

    /// The same, and peers that call with another key are let in: while a site exchanges its key, process by process.
    pub fn admitting(mut self, other: [u8; 32]) -> Self {
        self.macs.push(labelled(other));
        self
    }

    /// The `Authorization` of a call.
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// Whether whoever sent this `Authorization` has the secret; takes the same time for every wrong one.
    pub(crate) fn admits(&self, header: Option<&HeaderValue>) -> bool {
        let token = header.and_then(|value| value.to_str().ok()).and_then(|value| value.strip_prefix(SCHEME));
        let Some(given) = token.and_then(|token| URL_SAFE_NO_PAD.decode(token).ok()) else { return false };
        self.macs.iter().any(|mac| mac.clone().verify_slice(&given).is_ok())
    }
}

fn labelled(key: [u8; 32]) -> Hmac<Sha256> {
    // The block of a short key is the key with zeros behind it, by the definition of HMAC.
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(&key);
    Hmac::<Sha256>::new(&block.into()).chain_update(LABEL)
}

impl fmt::Debug for InternalSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InternalSecret(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_secret_is_admitted() {
        let (ours, theirs) = (InternalSecret::new([7; 32]), InternalSecret::new([8; 32]));
        assert!(ours.admits(Some(&ours.header())));
        assert!(!ours.admits(Some(&theirs.header())) && !ours.admits(None));
        let text = ours.header().to_str().unwrap().to_owned();
        for wrong in ["", "Bearer", "Bearer ", &text[..text.len() - 1], &text[7..], &text.to_lowercase()] {
            assert!(!ours.admits(Some(&HeaderValue::from_str(wrong).unwrap())), "{wrong:?}");
        }
        assert!(!ours.admits(Some(&HeaderValue::from_bytes(b"Bearer \xff").unwrap())));
    }

    #[test]
    fn while_a_key_is_exchanged_peers_with_either_are_let_in() {
        let (old, new) = (InternalSecret::new([7; 32]), InternalSecret::new([8; 32]).admitting([7; 32]));
        assert!(new.admits(Some(&old.header())) && new.admits(Some(&new.header())));
        assert!(!old.admits(Some(&new.header())), "it knows one key, and the call is made with the other");
        assert!(!new.admits(Some(&InternalSecret::new([9; 32]).header())));
    }

    #[test]
    fn the_secret_is_not_shown() {
        let secret = InternalSecret::new([7; 32]);
        let token = secret.header().to_str().unwrap()[7..].to_owned();
        let shown = format!("{secret:?} {:?}", secret.header());
        assert!(!shown.contains(&token) && shown.contains("hidden"), "{shown}");
    }
}
