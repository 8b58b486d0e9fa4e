//! How often somebody may ask: token buckets by address for everybody, by member for writes, by name for sign-ins. What a
//! limit costs a request is one look into a table in memory.

mod buckets;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{Method, Request};
use madang_kernel::{Clock, Id, MemberId};

pub use self::buckets::{Bucket, Buckets, MemoryBuckets, Taken};
use crate::extract::client_of;
use crate::{ApiError, TrustedProxies};

/// Members are new for this long.
const NEW_MEMBER: Duration = Duration::from_secs(24 * 60 * 60);
/// Of an IPv6 address, what one customer is given: the rest is theirs to change at will.
const V6_NETWORK_BITS: u32 = 64;

/// The limits of a site; what is over one is refused with 429.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// Reads from one address.
    pub reads: Bucket,
    /// Writes from one address, whoever is signed in.
    pub writes: Bucket,
    /// Sign-ins from one address.
    pub sign_ins: Bucket,
    /// Sign-ins under one name, from wherever.
    pub sign_ins_of_name: Bucket,
    /// Registrations from one address.
    pub sign_ups: Bucket,
    /// Writes of one member.
    pub member_writes: Bucket,
    /// Writes of one member within a day of registering.
    pub new_member_writes: Bucket,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            reads: Bucket::per_second(50, 500),
            writes: Bucket::per_second(10, 100),
            sign_ins: Bucket::per_hour(120, 20),
            sign_ins_of_name: Bucket::per_hour(60, 20),
            sign_ups: Bucket::per_hour(20, 5),
            member_writes: Bucket::per_second(2, 60),
            new_member_writes: Bucket::per_hour(600, 20),
        }
    }
}

/// Keeps the limits.
#[derive(Clone)]
pub struct Limiter(Arc<Inner>);

struct Inner {
    limits: RateLimits,
    buckets: Box<dyn Buckets>,
    clock: Arc<dyn Clock>,
    /// Seeded at the start, so that nobody can choose to share a bucket.
    hasher: RandomState,
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Limiter").field(&self.0.limits).finish()
    }
}

/// What a bucket is for, with whose it is.
#[derive(Hash)]
enum Whose<'a> {
    Reads(IpAddr),
    Writes(IpAddr),
    SignIns(IpAddr),
    SignUps(IpAddr),
    Name(&'a str),
    Member(MemberId),
}

impl Limiter {
    /// A limiter over buckets; the clock tells how long somebody has been a member.
    pub fn new(limits: RateLimits, buckets: impl Buckets + 'static, clock: Arc<dyn Clock>) -> Self {
        Self(Arc::new(Inner { limits, buckets: Box::new(buckets), clock, hasher: RandomState::new() }))
    }

    /// Whether a request may go on, by the address it comes from.
    pub(crate) fn admit<B>(
        &self,
        request: &Request<B>,
        route: Option<&str>,
        trusted: &TrustedProxies,
    ) -> Result<(), ApiError> {
        let address = network(client_of(request.extensions(), request.headers(), trusted));
        let limits = &self.0.limits;
        if request.method().is_safe() {
            return self.take(&Whose::Reads(address), limits.reads);
        }
        if request.method() == Method::POST {
            match route {
                Some("/api/v1/sessions") => return self.take(&Whose::SignIns(address), limits.sign_ins),
                Some("/api/v1/members") => return self.take(&Whose::SignUps(address), limits.sign_ups),
                _ => {}
            }
        }
        self.take(&Whose::Writes(address), limits.writes)
    }

    /// Whether a sign-in under this name may be tried.
    pub(crate) fn admit_sign_in(&self, name: &str) -> Result<(), ApiError> {
        self.take(&Whose::Name(&name.to_lowercase()), self.0.limits.sign_ins_of_name)
    }

    /// Whether a member may write.
    pub(crate) fn admit_write(&self, member: MemberId) -> Result<(), ApiError> {
        let is_new = self.0.clock.now().since(member.issued_at()) < NEW_MEMBER;
        let limits = &self.0.limits;
        self.take(&Whose::Member(member), if is_new { limits.new_member_writes } else { limits.member_writes })
    }

    fn take(&self, whose: &Whose<'_>, bucket: Bucket) -> Result<(), ApiError> {
        let taken = self.0.buckets.take(self.0.hasher.hash_one(whose), bucket);
        if taken.is_allowed {
            return Ok(());
        }
        let window_s = bucket.refill().as_secs().max(1);
        Err(ApiError::TooMany { retry_after: taken.retry_after, burst: bucket.burst(), window_s })
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & (u128::MAX << (128 - V6_NETWORK_BITS))).into()),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use madang_kernel::{IdGenerator, ManualClock, NodeId, NodeLease, ShardId, Timestamp};

    use super::*;
    use crate::extract::Peer;

    const TWO: Bucket = Bucket::per_hour(1, 2);

    fn limiter() -> (Limiter, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let tight = RateLimits {
            reads: TWO,
            writes: TWO,
            sign_ins: TWO,
            sign_ins_of_name: TWO,
            sign_ups: TWO,
            member_writes: Bucket::per_hour(1, 4),
            new_member_writes: TWO,
        };
        (Limiter::new(tight, MemoryBuckets::default(), clock.clone()), clock)
    }

    fn admitted(limiter: &Limiter, method: &str, route: &str, from: &str) -> bool {
        let mut request = Request::builder().method(method).uri("/").body(Body::empty()).unwrap();
        request.extensions_mut().insert(Peer(from.parse().unwrap()));
        limiter.admit(&request, Some(route), &TrustedProxies::default()).is_ok()
    }

    #[test]
    fn an_address_has_a_bucket_for_each_kind_of_request() {
        let (limiter, _) = limiter();
        for (method, route) in [
            ("GET", "/api/v1/boards"),
            ("PUT", "/api/v1/articles/{article_id}"),
            ("POST", "/api/v1/sessions"),
            ("POST", "/api/v1/members"),
        ] {
            let admitted = |from| admitted(&limiter, method, route, from);
            assert!(admitted("192.0.2.1") && admitted("192.0.2.1") && !admitted("192.0.2.1"), "{method} {route}");
            assert!(admitted("192.0.2.2"), "another address has its own");
        }
    }

    #[test]
    fn a_customers_network_is_one_address() {
        let (limiter, _) = limiter();
        let admitted = |from| admitted(&limiter, "GET", "/api/v1/boards", from);
        assert!(admitted("2001:db8::1") && admitted("2001:db8::2") && !admitted("2001:db8::3"));
        assert!(admitted("2001:db8:0:1::1"));
    }

    #[test]
    fn a_new_member_writes_less() {
        let (limiter, clock) = limiter();
        let lease = NodeLease { node: NodeId(1), from_ms: 0, until_ms: i64::MAX };
        let member: MemberId = IdGenerator::new(clock.clone(), lease).next(ShardId::HOME).unwrap();
        let writes = || (0..9).filter(|_| limiter.admit_write(member).is_ok()).count();
        assert_eq!(writes(), 2);
        clock.advance(NEW_MEMBER);
        assert_eq!(writes(), 2, "four, of which two are spent");
    }

    #[test]
    fn a_name_has_a_bucket_in_every_spelling_of_its_case() {
        let (limiter, _) = limiter();
        let tried = |name| limiter.admit_sign_in(name).is_ok();
        assert!(tried("Anna") && tried("ANNA") && !tried("anna") && tried("ben"));
    }
}
