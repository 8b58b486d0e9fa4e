//! Who may try a password, and how often. Strangers share what an account, a network and both together allow; a device on
//! which the account signed in before, or a session of it, has a bucket of its own, which no stranger can empty: whoever
//! guesses slows down other strangers, and nobody's owner.

use std::net::IpAddr;

use madang_board::SessionId;

use super::{BucketOwner, Limiter, network};
use crate::Rejection;

/// Whose guess it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guesser {
    /// Somebody at an address.
    Stranger(IpAddr),
    /// A device on which this account signed in before, by its number.
    Device(u64),
    /// Somebody signed in as this account.
    Session(SessionId),
}

impl Limiter {
    /// Whether a password of the account with this key may be checked: at a sign-in, and wherever else it is asked for.
    pub async fn admit_password_check(&self, name_key: &str, guesser: Guesser) -> Result<(), Rejection> {
        let limits = &self.0.limits;
        let address = match guesser {
            Guesser::Device(device) => {
                return self.admit_guess(BucketOwner::Device(device), limits.sign_ins_of_device).await;
            }
            Guesser::Session(session) => {
                return self.admit_guess(BucketOwner::Session(session), limits.sign_ins_of_device).await;
            }
            Guesser::Stranger(address) => network(address),
        };
        // From the narrowest to the widest: what one network is refused costs the account nothing.
        self.admit_guess(BucketOwner::NameFrom(name_key, address), limits.sign_ins_of_name_and_network).await?;
        self.admit_guess(BucketOwner::SignIns(address), limits.sign_ins).await?;
        self.admit_guess(BucketOwner::Name(name_key), limits.sign_ins_of_name).await
    }

    async fn admit_guess(&self, owner: BucketOwner<'_>, bucket: super::Bucket) -> Result<(), Rejection> {
        self.settle(self.take(owner, bucket, 1)).await
    }
}
