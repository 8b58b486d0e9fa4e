//! A key in each form that creates something: sent twice, by a double click or a lost answer, it has one effect.

use madang_board::Actor;
use madang_kernel::{Id, Idempotency};
use maud::{Markup, html};
use sha2::{Digest, Sha256};

use crate::posted::Posted;

const FIELD: &str = "once";
/// The longest key that a store remembers.
const KEY_CHARS_MAX: usize = 64;

/// The hidden field.
pub(crate) fn idempotency_field() -> Markup {
    let key: u128 = rand::random();
    html! { input type="hidden" name=(FIELD) value=(format!("{key:032x}")); }
}

/// The form as the store remembers it; one without a key has an effect each time it is sent.
pub(crate) fn idempotency(actor: &Actor, scope: &str, posted: &Posted, parts: &[&str]) -> Option<Idempotency> {
    let key = posted.fields.text(FIELD);
    let fits = (1..=KEY_CHARS_MAX).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    let fingerprint = digest.finalize().into();
    fits.then(|| Idempotency {
        caller: actor.member_id.raw(),
        scope: scope.to_owned(),
        key: key.to_owned(),
        fingerprint,
    })
}
