//! Bearer tokens: what a process needs to know about who asks, signed, so that it asks no database.
//!
//! `v2_<key id>.<payload>.<mac>`, payload and MAC in base64url. The key id tells which key signed, so that keys can be
//! exchanged while old tokens live on. The MAC covers everything before it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use madang_board::{MemberId, Role, SessionId};
use madang_kernel::{Id, Timestamp};
use sha2::{Digest, Sha256};

use crate::name::NAME_MAX_CHARS;

/// No token of ours is longer; checked before anything else is.
const TOKEN_MAX_BYTES: usize = 320;
/// Two ids, two times, a role and the number of passwords come before the name.
const FIXED_BYTES: usize = 4 * 8 + 1 + 4;
const NAME_MAX_BYTES: usize = NAME_MAX_CHARS * 4;
const PREFIX_BYTES: usize = "v2_01234567".len();
const TOKEN_VERSION: &str = "v2";
const MAC_CHARS: usize = 43;
/// Keys whose tokens are good at a time.
pub const SIGNING_KEYS_MAX: usize = 8;

const _: () =
    assert!(PREFIX_BYTES + 1 + (FIXED_BYTES + NAME_MAX_BYTES).div_ceil(3) * 4 + 1 + MAC_CHARS <= TOKEN_MAX_BYTES);

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claims {
    pub(crate) member_id: MemberId,
    pub(crate) session_id: SessionId,
    pub(crate) issued_at: Timestamp,
    pub(crate) expires_at: Timestamp,
    pub(crate) role: Role,
    /// How often the member's password had changed.
    pub(crate) passwords: u32,
    pub(crate) name: String,
}

/// The keys that tokens are signed with: the newest signs, all verify.
#[derive(Clone)]
pub struct SigningKeys {
    newest: [u8; 32],
    others: Vec<[u8; 32]>,
}

impl SigningKeys {
    /// The key that signs, and those whose tokens are good as well: older ones, or in a cluster the next one too. At most
    /// [`SIGNING_KEYS_MAX`] are taken, the first ones.
    pub fn new(newest: [u8; 32], others: impl IntoIterator<Item = [u8; 32]>) -> Self {
        Self { newest, others: others.into_iter().take(SIGNING_KEYS_MAX - 1).collect() }
    }
}

impl From<[u8; 32]> for SigningKeys {
    fn from(only: [u8; 32]) -> Self {
        Self::new(only, [])
    }
}

/// Signs and verifies tokens.
pub(crate) struct Tokens {
    newest: TokenKey,
    others: Vec<TokenKey>,
}

struct TokenKey {
    /// Keyed once; each use starts from a copy.
    mac: Hmac<Sha256>,
    /// Tells which key signed.
    key_id: String,
}

impl TokenKey {
    fn new(key: &[u8; 32]) -> Self {
        let digest = Sha256::new().chain_update(b"madang token key id").chain_update(key).finalize();
        let key_id = hex::encode(&digest[..4]);
        Self { mac: keyed(key), key_id }
    }
}

impl Tokens {
    /// Tokens of these keys.
    pub(crate) fn new(keys: &SigningKeys) -> Self {
        Self { newest: TokenKey::new(&keys.newest), others: keys.others.iter().map(TokenKey::new).collect() }
    }

    /// The token that says `claims`.
    pub(crate) fn sign(&self, claims: &Claims) -> String {
        self.sign_as(TOKEN_VERSION, &claims.to_bytes())
    }

    /// What a token says, if we signed it. Whether it has expired or was ended is another question.
    pub(crate) fn verify(&self, token: &str) -> Option<Claims> {
        Claims::from_bytes(&self.verify_as(TOKEN_VERSION, token)?)
    }

    /// Signs a payload of some version, which says what it is.
    pub(crate) fn sign_as(&self, version: &str, payload: &[u8]) -> String {
        let mut token = format!("{version}_{}.", self.newest.key_id);
        URL_SAFE_NO_PAD.encode_string(payload, &mut token);
        let mac = self.newest.mac.clone().chain_update(token.as_bytes()).finalize().into_bytes();
        token.push('.');
        URL_SAFE_NO_PAD.encode_string(mac, &mut token);
        token
    }

    /// The payload of that version, if we signed it.
    pub(crate) fn verify_as(&self, version: &str, token: &str) -> Option<Vec<u8>> {
        if token.len() > TOKEN_MAX_BYTES {
            return None;
        }
        let (signed, mac) = token.rsplit_once('.')?;
        let (prefix, payload) = signed.split_once('.')?;
        let key_id = prefix.strip_prefix(version)?.strip_prefix('_')?;
        let key = std::iter::once(&self.newest).chain(&self.others).find(|key| key.key_id == key_id)?;
        let mac = URL_SAFE_NO_PAD.decode(mac).ok()?;
        // Compares in constant time.
        key.mac.clone().chain_update(signed.as_bytes()).verify_slice(&mac).ok()?;
        URL_SAFE_NO_PAD.decode(payload).ok()
    }
}

fn keyed(key: &[u8; 32]) -> Hmac<Sha256> {
    // The block of a short key is the key with zeros behind it, by the definition of HMAC.
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    Hmac::new(&block.into())
}

impl Claims {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED_BYTES + self.name.len());
        let numbers =
            [self.member_id.raw(), self.session_id.raw(), self.issued_at.as_millis(), self.expires_at.as_millis()];
        numbers.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
        bytes.push(match self.role {
            Role::Member => 0,
            Role::Moderator => 1,
            Role::Admin => 2,
        });
        bytes.extend(self.passwords.to_be_bytes());
        bytes.extend(self.name.as_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (member, rest) = bytes.split_first_chunk()?;
        let (session, rest) = rest.split_first_chunk()?;
        let (issued, rest) = rest.split_first_chunk()?;
        let (expires, rest) = rest.split_first_chunk()?;
        let (role, rest) = rest.split_first()?;
        let (passwords, name) = rest.split_first_chunk()?;
        Some(Self {
            member_id: MemberId::from_raw(i64::from_be_bytes(*member)),
            session_id: SessionId::from_raw(i64::from_be_bytes(*session)),
            issued_at: Timestamp::from_millis(i64::from_be_bytes(*issued)),
            expires_at: Timestamp::from_millis(i64::from_be_bytes(*expires)),
            role: match role {
                0 => Role::Member,
                1 => Role::Moderator,
                2 => Role::Admin,
                _ => return None,
            },
            passwords: u32::from_be_bytes(*passwords),
            name: String::from_utf8(name.to_vec()).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn claims(name: &str, role: Role) -> Claims {
        Claims {
            member_id: MemberId::from_raw(77),
            session_id: SessionId::from_raw(i64::MAX),
            issued_at: Timestamp::from_millis(1_704_067_200_000),
            expires_at: Timestamp::from_millis(1_704_067_300_000),
            role,
            passwords: 3,
            name: name.to_owned(),
        }
    }

    #[test]
    fn what_is_signed_is_verified() {
        let tokens = Tokens::new(&[7; 32].into());
        for (name, role) in [("마당", Role::Member), ("ab", Role::Moderator), (&"😀".repeat(32), Role::Admin)] {
            let token = tokens.sign(&claims(name, role));
            assert!(token.len() <= TOKEN_MAX_BYTES && token.is_ascii() && !token.contains(' '), "{token}");
            assert_eq!(tokens.verify(&token), Some(claims(name, role)));
        }
    }

    #[test]
    fn a_token_of_another_key_is_refused() {
        let (ours, theirs) = (Tokens::new(&[7; 32].into()), Tokens::new(&[8; 32].into()));
        let token = theirs.sign(&claims("ab", Role::Admin));
        assert_eq!(ours.verify(&token), None);
        let relabelled = token.replacen(&theirs.newest.key_id, &ours.newest.key_id, 1);
        assert_eq!(ours.verify(&relabelled), None, "the key id alone proves nothing");
    }

    #[test]
    fn after_a_rotation_the_new_key_signs_and_the_old_one_still_verifies() {
        let before = Tokens::new(&[7; 32].into());
        let old = before.sign(&claims("ab", Role::Member));
        let after = Tokens::new(&SigningKeys::new([8; 32], [[7; 32]]));
        let new = after.sign(&claims("ab", Role::Member));
        assert!(after.verify(&old).is_some() && after.verify(&new).is_some());
        assert_eq!(before.verify(&new), None, "the old key alone does not know the new one");
        let later = Tokens::new(&[8; 32].into());
        assert_eq!(later.verify(&old), None, "a key that was removed is worth nothing");
    }

    #[test]
    fn every_changed_or_missing_byte_is_refused() {
        let tokens = Tokens::new(&[7; 32].into());
        let token = tokens.sign(&claims("마당", Role::Member));
        for at in 0..token.len() {
            assert_eq!(tokens.verify(&token[..at]), None, "cut at {at}");
            for byte in (b' '..=b'~').filter(|byte| *byte != token.as_bytes()[at]) {
                let mut changed = token.clone().into_bytes();
                changed[at] = byte;
                let changed = String::from_utf8(changed).unwrap();
                assert_eq!(tokens.verify(&changed), None, "{changed}");
            }
        }
        for grown in [format!("{token}A"), format!("{token}="), format!("{token}."), format!(" {token}")] {
            assert_eq!(tokens.verify(&grown), None, "{grown}");
        }
    }

    proptest! {
        #[test]
        fn garbage_is_refused(text in prop_oneof!["(?s).{0,400}", "v2_[0-9a-f]{8}\\.[A-Za-z0-9_-]{0,200}\\.[A-Za-z0-9_-]{43}"]) {
            prop_assert_eq!(Tokens::new(&[7; 32].into()).verify(&text), None);
        }

        #[test]
        fn any_payload_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some(claims) = Claims::from_bytes(&bytes) {
                prop_assert_eq!(claims.to_bytes(), bytes);
            }
        }
    }
}
