//! The token in each form: derived from the session's cookie, which other sites can send along but never read. Masked anew
//! each time, so that a compressed page does not give it away by its length.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

const TOKEN_BYTES: usize = 16;

/// A token for a form of the session that this cookie carries.
pub(crate) fn issue(session_cookie: &str) -> String {
    let mask: [u8; TOKEN_BYTES] = rand::random();
    let secret = secret(session_cookie);
    let masked = mask.iter().zip(secret).map(|(mask, byte)| mask ^ byte);
    hex::encode(mask.iter().copied().chain(masked).collect::<Vec<_>>())
}

/// Whether the token was issued to this session.
pub(crate) fn is_good(session_cookie: &str, token: &str) -> bool {
    let mut bytes = [0; 2 * TOKEN_BYTES];
    if hex::decode_to_slice(token, &mut bytes).is_err() {
        return false;
    }
    let (mask, masked) = bytes.split_at(TOKEN_BYTES);
    let pairs = mask.iter().zip(masked).zip(secret(session_cookie));
    // Every byte is looked at: how long it takes tells nothing about how much was right.
    pairs.fold(0, |differences, ((mask, masked), byte)| std::hint::black_box(differences | (mask ^ masked ^ byte))) == 0
}

fn secret(session_cookie: &str) -> [u8; TOKEN_BYTES] {
    // A digest of the cookie is the key, so that its length does not matter.
    let key: [u8; 32] = sha2::Digest::finalize(<Sha256 as sha2::Digest>::new_with_prefix(session_cookie)).into();
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(&key);
    let whole: [u8; 32] =
        Hmac::<Sha256>::new(&block.into()).chain_update(b"madang form").finalize().into_bytes().into();
    let mut first = [0; TOKEN_BYTES];
    first.copy_from_slice(&whole[..TOKEN_BYTES]);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_for_its_session_alone() {
        let token = issue("session one");
        assert!(is_good("session one", &token));
        assert!(!is_good("session two", &token));
        assert_ne!(token, issue("session one"), "masked anew");
    }

    #[test]
    fn anything_else_is_no_token() {
        let long = "0".repeat(64);
        for token in ["", "0", "마당", &long, &"g".repeat(64), &format!("{}é", "0".repeat(62))] {
            assert!(!is_good("session", token), "{token}");
        }
    }
}
