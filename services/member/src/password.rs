//! Passwords: hashed with argon2id, a few at a time, because each hash takes memory and a core for a while. A flood of
//! sign-ins meets a full queue, not a server that swaps.

use std::sync::Arc;

use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use madang_kernel::{FieldError, StoreError};
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization;

use crate::MemberOptions;
use crate::background_threads::BackgroundThreads;
use crate::weak_passwords::weakness;

/// The shortest password, in Unicode scalar values.
pub const PASSWORD_MIN_CHARS: usize = 8;
/// The longest password, in Unicode scalar values.
pub const PASSWORD_MAX_CHARS: usize = 128;
/// The most memory one hash may be told to take: 1 GiB.
const HASH_MEMORY_MAX_KIB: u32 = 1_024 * 1_024;
/// The most passes one hash may be told to make.
const HASH_PASSES_MAX: u32 = 64;
const PART: &str = "password hashing";

/// A password that passed the rules, in the form that is hashed. Never shown, not even in a log.
pub(crate) struct Password(String);

impl Password {
    /// Checks a password; compatible spellings of one password become one (NFKC), whatever keyboard it came from.
    pub(crate) fn new(text: &str) -> Result<Self, FieldError> {
        // A text of more bytes has more characters than allowed; counted only if it might fit.
        let fits = text.len() <= PASSWORD_MAX_CHARS * 4
            && (PASSWORD_MIN_CHARS..=PASSWORD_MAX_CHARS).contains(&text.chars().count());
        if fits {
            return Ok(Self(text.nfkc().collect()));
        }
        let message = format!("must have {PASSWORD_MIN_CHARS} to {PASSWORD_MAX_CHARS} characters");
        Err(FieldError { field: "password", message })
    }

    /// Checks a password that somebody wants from now on: not one that is tried first.
    pub(crate) fn chosen(text: &str, about: &[&str]) -> Result<Self, FieldError> {
        let password = Self::new(text)?;
        match weakness(&password.0, about) {
            None => Ok(password),
            Some(message) => Err(FieldError { field: "password", message: message.into() }),
        }
    }

    /// A password that nobody knows.
    pub(crate) fn random() -> Self {
        Self(STANDARD_NO_PAD.encode(rand::random::<[u8; 32]>()))
    }
}

/// Hashes and verifies passwords within bounds.
pub(crate) struct Passwords {
    argon2: Argon2<'static>,
    /// Those that hash.
    running: Arc<Semaphore>,
    /// Those that hash or wait.
    admitted: Arc<Semaphore>,
    threads: BackgroundThreads,
    /// Stands in for the hash of a member who does not exist.
    nobodys_hash: String,
}

impl Passwords {
    /// Hashing as the operator set it; values that argon2 would refuse are moved into its range.
    pub(crate) fn new(options: &MemberOptions) -> Self {
        let memory_kib = options.hash_memory_kib.clamp(Params::MIN_M_COST, HASH_MEMORY_MAX_KIB);
        let passes = options.hash_passes.clamp(Params::MIN_T_COST, HASH_PASSES_MAX);
        let params = Params::new(memory_kib, passes, 1, None).unwrap_or_default();
        let concurrency = options.hash_concurrency.clamp(1, 1_024);
        Self {
            nobodys_hash: nobodys_hash(&params),
            argon2: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            running: Arc::new(Semaphore::new(concurrency)),
            admitted: Arc::new(Semaphore::new(concurrency + options.hash_queue.min(100_000))),
            threads: BackgroundThreads::start("password-hash", concurrency),
        }
    }

    /// The hash of a password, with a salt of its own.
    pub(crate) async fn hash(&self, password: Password) -> Result<String, StoreError> {
        let argon2 = self.argon2.clone();
        self.run(move || argon2.hash_password(password.0.as_bytes()).map(|hash| hash.to_string()))
            .await?
            .map_err(failed)
    }

    /// Whether the password belongs to the hash; without a hash it does not, after the same time.
    pub(crate) async fn verify(&self, password: Password, hash: Option<String>) -> Result<bool, StoreError> {
        let exists = hash.is_some();
        let hash = hash.unwrap_or_else(|| self.nobodys_hash.clone());
        let argon2 = self.argon2.clone();
        let verdict = self.run(move || argon2.verify_password(password.0.as_bytes(), hash.as_str())).await?;
        match verdict {
            Ok(()) => Ok(exists),
            Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
        let full = || StoreError::unavailable(PART, "too many wait for it");
        let admitted = self.admitted.clone().try_acquire_owned().map_err(|_| full())?;
        let running = self.running.clone().acquire_owned().await.map_err(|_| full())?;
        // The permits go with the work: a caller who hangs up does not free the core that still hashes.
        let done = self.threads.run(move || {
            let done = work();
            drop((running, admitted));
            done
        });
        done.await.ok_or_else(|| StoreError::broken(PART, "a thread that hashed a password is gone"))
    }
}

fn failed(error: argon2::password_hash::Error) -> StoreError {
    StoreError::broken(PART, error.to_string())
}

/// A hash of the same cost that no password has: salt and hash are random.
fn nobodys_hash(params: &Params) -> String {
    let (salt, hash): ([u8; 16], [u8; 32]) = (rand::random(), rand::random());
    format!(
        "$argon2id$v=19$m={},t={},p={}${}${}",
        params.m_cost(),
        params.t_cost(),
        params.p_cost(),
        STANDARD_NO_PAD.encode(salt),
        STANDARD_NO_PAD.encode(hash)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cheap(hash_queue: usize) -> Passwords {
        let options =
            MemberOptions { hash_memory_kib: 8, hash_passes: 1, hash_concurrency: 1, hash_queue, ..Default::default() };
        Passwords::new(&options)
    }

    fn password(text: &str) -> Password {
        Password::new(text).unwrap_or_else(|error| panic!("{}", error.message))
    }

    #[test]
    fn passwords_have_8_to_128_characters() {
        for text in ["12345678", &"a".repeat(128), &"😀".repeat(128)] {
            assert!(Password::new(text).is_ok(), "{text}");
        }
        for text in ["", "1234567", &"a".repeat(129), &"😀".repeat(129), &"a".repeat(1_000_000)] {
            assert!(Password::new(text).is_err());
        }
    }

    #[tokio::test]
    async fn a_password_counts_to_its_last_character() {
        let passwords = cheap(1);
        let long = "😀 a long sentence of many words ".chars().cycle().take(127).collect::<String>();
        let hash = passwords.hash(password(&format!("{long}a"))).await.unwrap();
        assert!(passwords.verify(password(&format!("{long}a")), Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify(password(&format!("{long}b")), Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify(password(&long), Some(hash)).await.unwrap());
    }

    #[tokio::test]
    async fn a_hash_knows_its_password() {
        let passwords = cheap(1);
        let hash = passwords.hash(password("correct horse")).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{hash}");
        assert_ne!(hash, passwords.hash(password("correct horse")).await.unwrap(), "each has its salt");
        assert!(passwords.verify(password("correct horse"), Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify(password("correct Horse"), Some(hash)).await.unwrap());
        assert!(!passwords.verify(password("correct horse"), None).await.unwrap());
    }

    #[tokio::test]
    async fn composed_and_decomposed_spellings_are_one_password() {
        let passwords = cheap(1);
        let hash = passwords.hash(password("caf\u{e9} au lait")).await.unwrap();
        assert!(passwords.verify(password("cafe\u{301} au lait"), Some(hash)).await.unwrap());
    }

    #[tokio::test]
    async fn nobodys_hash_costs_what_a_members_does() {
        let passwords = cheap(1);
        let real = passwords.hash(password("correct horse")).await.unwrap();
        let cost = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(cost(&real), cost(&passwords.nobodys_hash));
        assert_eq!(real.len(), passwords.nobodys_hash.len());
    }

    #[tokio::test]
    async fn past_the_queue_hashing_is_refused_at_once() {
        let passwords = cheap(2);
        // The one that hashes is held up, two wait, the fourth is refused; then all goes on.
        let held = passwords.running.clone().acquire_owned().await.unwrap();
        let mut waiting = Vec::new();
        for _ in 0..3 {
            let mut hashing = Box::pin(passwords.hash(password("correct horse")));
            assert!(poll_once(&mut hashing).await.is_none());
            waiting.push(hashing);
        }
        let refused = passwords.hash(password("correct horse")).await;
        assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
        drop(held);
        for hashing in waiting {
            hashing.await.unwrap();
        }
        assert!(passwords.hash(password("correct horse")).await.is_ok());
    }

    #[test]
    fn settings_that_argon2_refuses_are_moved_into_its_range() {
        for (hash_memory_kib, hash_passes) in [(0, 0), (1, 1), (8, 0)] {
            let options = MemberOptions {
                hash_memory_kib,
                hash_passes,
                hash_concurrency: 0,
                hash_queue: 0,
                ..Default::default()
            };
            assert!(Passwords::new(&options).nobodys_hash.contains("m=8,t=1"));
        }
    }

    /// Polls once; `None` while it waits.
    async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
        std::future::poll_fn(|context| {
            let polled = std::pin::Pin::new(&mut *future).poll(context);
            std::task::Poll::Ready(match polled {
                std::task::Poll::Ready(output) => Some(output),
                std::task::Poll::Pending => None,
            })
        })
        .await
    }
}
