//! The secret of a run: a relay publishes what is handed to it without a look into the outbox, so it takes events only from
//! who knows the secret, which are the command programs that were started with it.

use std::fmt;
use std::hint::black_box;
use std::str::FromStr;
use std::sync::Arc;

use axum::http::HeaderValue;

const SCHEME: &str = "Bearer ";
/// The shortest secret, in characters: 128 bits in hexadecimal.
const LENGTH_MIN: usize = 32;

/// The secret, as a program is told.
#[derive(Debug, Clone, clap::Args)]
pub struct SecretSettings {
    /// What the command programs and relays of a run share, at least 32 characters. Without it nothing is handed over, and
    /// relays find events by polling.
    #[arg(long, env = "LAB_SECRET", hide_env_values = true)]
    pub secret: Option<Secret>,
}

/// A secret that two programs share. It shows in no log.
#[derive(Clone)]
pub struct Secret(Arc<str>);

/// A text that is no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a secret is at least 32 visible ASCII characters")]
pub struct InvalidSecret;

impl Secret {
    /// The `Authorization` of who knows it.
    #[must_use]
    pub fn authorization(&self) -> HeaderValue {
        // A secret has visible characters only, which fit into a header; were it otherwise, the call would be refused.
        let value = HeaderValue::try_from(format!("{SCHEME}{}", self.0));
        let mut value = value.unwrap_or_else(|_| HeaderValue::from_static("Bearer"));
        value.set_sensitive(true);
        value
    }

    /// Whether whoever sent this `Authorization` knows the secret; takes the same time for every wrong one of its length.
    #[must_use]
    pub fn admits(&self, authorization: Option<&HeaderValue>) -> bool {
        let given = authorization.and_then(|value| value.as_bytes().strip_prefix(SCHEME.as_bytes()));
        given.is_some_and(|given| {
            let differences =
                given.iter().zip(self.0.bytes()).fold(0, |sum, (ours, theirs)| black_box(sum | (ours ^ theirs)));
            given.len() == self.0.len() && differences == 0
        })
    }
}

impl FromStr for Secret {
    type Err = InvalidSecret;

    fn from_str(text: &str) -> Result<Self, InvalidSecret> {
        let fits = text.len() >= LENGTH_MIN && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.into())) } else { Err(InvalidSecret) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Draws a secret for a run.
#[must_use]
pub fn draw() -> String {
    format!("{:032x}", rand::random::<u128>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_knows_the_whole_secret_is_admitted() {
        let drawn = draw();
        let secret: Secret = drawn.parse().unwrap();
        assert!(secret.admits(Some(&secret.authorization())));
        assert!(!secret.admits(None));
        let other = format!("Bearer {}", draw());
        let (short, long) = (format!("Bearer {}", &drawn[..31]), format!("Bearer {drawn}0"));
        for guess in ["", "Bearer", "Bearer ", drawn.as_str(), &other, &short, &long, &format!("bearer {drawn}")] {
            assert!(!secret.admits(Some(&HeaderValue::try_from(guess).unwrap())), "{guess}");
        }
    }

    #[test]
    fn a_secret_is_long_and_shows_nowhere() {
        for text in ["", "short", &"x".repeat(31), &" ".repeat(32), &"é".repeat(16)] {
            assert_eq!(text.parse::<Secret>().unwrap_err(), InvalidSecret, "{text}");
        }
        let drawn = draw();
        assert!(!format!("{:?}", drawn.parse::<Secret>().unwrap()).contains(&drawn));
    }
}
