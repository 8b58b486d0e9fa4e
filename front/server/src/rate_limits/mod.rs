//! Rate limits: token buckets by address for everybody, by member for writes, by account, network and device for guesses
//! (`guesses.rs`). What a limit costs a read is one look-up in a table in memory; where processes share their buckets, a round trip for every
//! write and for one read in [`READS_PORTION`].

mod buckets;
mod guesses;
mod shared;

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Request;
use ipnet::Ipv6Net;
use madang_board::{MemberId, SessionId};
use madang_kernel::{Clock, Id};

pub use self::buckets::{Bucket, Buckets, MemoryBuckets, Taken};
pub use self::guesses::Guesser;
use self::shared::Portions;
pub use self::shared::{Portion, SharedBuckets};
use crate::{RefusedBy, Rejection, TrustedProxies, client_address};

/// Members are new for this long.
const NEW_MEMBER: Duration = Duration::from_secs(24 * 60 * 60);
/// Of an IPv6 address, what one customer is given: the rest is theirs to change at will.
const V6_NETWORK_BITS: u8 = 64;
/// Reads for which tokens are fetched at a time, where buckets are shared. One twentieth of a full bucket.
const READS_PORTION: u32 = 25;

/// The limits of a site; what is over one is refused with 429.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// Reads from one address.
    pub reads: Bucket,
    /// Writes from one address, whoever is signed in.
    pub writes: Bucket,
    /// Passwords of whichever accounts that strangers try from one network.
    pub sign_ins: Bucket,
    /// Passwords of one account that strangers try from one network.
    pub sign_ins_of_name_and_network: Bucket,
    /// Passwords of one account that strangers try, from wherever.
    pub sign_ins_of_name: Bucket,
    /// Passwords of an account that are tried on a device on which it signed in before, or within a session of it.
    pub sign_ins_of_device: Bucket,
    /// Registrations from one address.
    pub sign_ups: Bucket,
    /// Writes of one member.
    pub member_writes: Bucket,
    /// Writes of one member within a day of registering.
    pub new_member_writes: Bucket,
    /// Searches from one network, and as many of one member: each may cost as much as a hundred reads.
    pub searches: Bucket,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            reads: Bucket::per_second(50, 500),
            writes: Bucket::per_second(10, 100),
            sign_ins: Bucket::per_hour(120, 20),
            sign_ins_of_name_and_network: Bucket::per_hour(30, 10),
            sign_ins_of_name: Bucket::per_hour(60, 20),
            sign_ins_of_device: Bucket::per_hour(30, 10),
            sign_ups: Bucket::per_hour(20, 5),
            member_writes: Bucket::per_second(2, 60),
            new_member_writes: Bucket::per_hour(600, 20),
            searches: Bucket::per_second(3, 30),
        }
    }
}

/// Keeps the limits.
#[derive(Clone)]
pub struct Limiter(Arc<Inner>);

struct Inner {
    limits: RateLimits,
    buckets: Box<dyn Buckets>,
    /// Buckets of all processes, and what was fetched from them.
    shared: Option<(Arc<dyn SharedBuckets>, Portions)>,
    clock: Arc<dyn Clock>,
    /// Seeded at the start, so that nobody can choose to share a bucket.
    hasher: RandomState,
}

/// What is known of a request at once.
pub(crate) enum Decision {
    /// It may go on.
    Admitted,
    /// It may not.
    Rejected(Rejection),
    /// The processes' common bucket has to be asked.
    Ask(Question),
}

/// What the common buckets are asked.
pub(crate) struct Question {
    name: String,
    limit: RefusedBy,
    key: u64,
    bucket: Bucket,
    portion: u32,
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Limiter").field(&self.0.limits).finish()
    }
}

/// What a bucket is for, and whose it is.
#[derive(Hash, Clone, Copy)]
enum BucketOwner<'a> {
    Reads(IpAddr),
    Writes(IpAddr),
    SignIns(IpAddr),
    SignUps(IpAddr),
    NameFrom(&'a str, IpAddr),
    Name(&'a str),
    Device(u64),
    Session(SessionId),
    Member(MemberId),
    Searches(IpAddr),
    MemberSearches(MemberId),
}

impl BucketOwner<'_> {
    /// The limit that an empty bucket stands for.
    fn limit(self) -> RefusedBy {
        match self {
            Self::Reads(_) => RefusedBy::Reads,
            Self::Writes(_) => RefusedBy::Writes,
            Self::SignUps(_) => RefusedBy::SignUps,
            Self::Member(_) => RefusedBy::MemberWrites,
            Self::Searches(_) | Self::MemberSearches(_) => RefusedBy::Searches,
            Self::SignIns(_) | Self::NameFrom(..) | Self::Name(_) | Self::Device(_) | Self::Session(_) => {
                RefusedBy::Guesses
            }
        }
    }

    /// The same in every process.
    fn name(self) -> String {
        match self {
            Self::Reads(address) => format!("reads:{address}"),
            Self::Writes(address) => format!("writes:{address}"),
            Self::SignIns(address) => format!("sign-ins:{address}"),
            Self::SignUps(address) => format!("sign-ups:{address}"),
            // The address first: it holds no letter that could end it early.
            Self::NameFrom(name, address) => format!("name-from:{address}:{name}"),
            Self::Name(name) => format!("name:{name}"),
            Self::Device(device) => format!("device:{device}"),
            Self::Session(session) => format!("session:{session}"),
            Self::Member(member) => format!("member:{member}"),
            Self::Searches(address) => format!("searches:{address}"),
            Self::MemberSearches(member) => format!("member-searches:{member}"),
        }
    }
}

impl Limiter {
    /// A limiter over buckets; the clock tells how long somebody has been a member.
    pub fn new(limits: RateLimits, buckets: impl Buckets + 'static, clock: Arc<dyn Clock>) -> Self {
        Self::with(limits, Box::new(buckets), None, clock)
    }

    /// The same whose limits hold for all processes together. While the common buckets do not answer, those of the process
    /// decide alone.
    pub fn sharing(
        limits: RateLimits,
        buckets: impl Buckets + 'static,
        shared: Arc<dyn SharedBuckets>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self::with(limits, Box::new(buckets), Some((shared, Portions::default())), clock)
    }

    fn with(
        limits: RateLimits,
        buckets: Box<dyn Buckets>,
        shared: Option<(Arc<dyn SharedBuckets>, Portions)>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self(Arc::new(Inner { limits, buckets, shared, clock, hasher: RandomState::new() }))
    }

    /// Whether a request may go on, by the address it comes from.
    pub(crate) fn decide<B>(&self, request: &Request<B>, trusted: &TrustedProxies) -> Decision {
        let address = network(client_address(request.extensions(), request.headers(), trusted));
        let limits = &self.0.limits;
        if request.method().is_safe() {
            return self.take(BucketOwner::Reads(address), limits.reads, READS_PORTION);
        }
        self.take(BucketOwner::Writes(address), limits.writes, 1)
    }

    /// Whether somebody at this address may register, once what they typed is acceptable: a typing mistake costs a write
    /// like any other, and none of the few registrations.
    pub async fn admit_sign_up(&self, address: IpAddr) -> Result<(), Rejection> {
        self.settle(self.take(BucketOwner::SignUps(network(address)), self.0.limits.sign_ups, 1)).await
    }

    /// Whether a member may write.
    pub async fn admit_write(&self, member: MemberId) -> Result<(), Rejection> {
        let is_new = self.0.clock.now().since(member.issued_at()) < NEW_MEMBER;
        let limits = &self.0.limits;
        let bucket = if is_new { limits.new_member_writes } else { limits.member_writes };
        self.settle(self.take(BucketOwner::Member(member), bucket, 1)).await
    }

    /// Whether somebody may search: by where they are, and by who they are where that is known.
    pub async fn admit_search(&self, address: IpAddr, member: Option<MemberId>) -> Result<(), Rejection> {
        let bucket = self.0.limits.searches;
        self.settle(self.take(BucketOwner::Searches(network(address)), bucket, 1)).await?;
        match member {
            Some(member) => self.settle(self.take(BucketOwner::MemberSearches(member), bucket, 1)).await,
            None => Ok(()),
        }
    }

    /// Asks the common buckets. A process that gets no answer goes by its own, which admitted this already.
    pub(crate) async fn ask(&self, question: Question) -> Result<(), Rejection> {
        let Some((shared, portions)) = &self.0.shared else { return Ok(()) };
        match shared.take_up_to(&question.name, question.bucket, question.portion).await {
            Ok(Portion { tokens: 0, retry_after }) => Err(too_many(question.limit, question.bucket, retry_after)),
            Ok(Portion { tokens, .. }) => {
                if tokens > 1 {
                    portions.keep(question.key, tokens - 1);
                }
                Ok(())
            }
            Err(error) => {
                tracing::debug!("the shared rate limits do not respond, this process decides by its own: {error}");
                Ok(())
            }
        }
    }

    async fn settle(&self, decision: Decision) -> Result<(), Rejection> {
        match decision {
            Decision::Admitted => Ok(()),
            Decision::Rejected(rejection) => Err(rejection),
            Decision::Ask(question) => self.ask(question).await,
        }
    }

    /// The process's own bucket first: it holds no less than the common one, and refuses a flood without a round trip.
    fn take(&self, owner: BucketOwner<'_>, bucket: Bucket, portion: u32) -> Decision {
        let key = self.0.hasher.hash_one(owner);
        let taken = self.0.buckets.take(key, bucket);
        if !taken.is_allowed {
            return Decision::Rejected(too_many(owner.limit(), bucket, taken.retry_after));
        }
        match &self.0.shared {
            Some((_, portions)) if portion == 1 || !portions.spend(key) => {
                Decision::Ask(Question { name: owner.name(), limit: owner.limit(), key, bucket, portion })
            }
            _ => Decision::Admitted,
        }
    }
}

fn too_many(limit: RefusedBy, bucket: Bucket, retry_after: Duration) -> Rejection {
    limit.count();
    Rejection::TooMany { retry_after, burst: bucket.burst(), window_s: bucket.refill().as_secs().max(1) }
}

/// What one customer is given, of which an address is a part: whoever counts people counts these.
pub fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Net::new_assert(v6, V6_NETWORK_BITS).network()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use axum::body::Body;
    use madang_kernel::{IdGenerator, ManualClock, NodeId, NodeLease, ShardId, Timestamp};

    use super::*;
    use crate::client_address::Peer;

    const TWO: Bucket = Bucket::per_hour(1, 2);

    fn limiter() -> (Limiter, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let tight = RateLimits {
            reads: TWO,
            writes: TWO,
            sign_ins: TWO,
            sign_ins_of_name_and_network: TWO,
            sign_ins_of_name: Bucket::per_hour(1, 3),
            sign_ins_of_device: TWO,
            sign_ups: TWO,
            member_writes: Bucket::per_hour(1, 4),
            new_member_writes: TWO,
            searches: TWO,
        };
        (Limiter::new(tight, MemoryBuckets::default(), clock.clone()), clock)
    }

    fn admitted(limiter: &Limiter, method: &str, from: &str) -> bool {
        let mut request = Request::builder().method(method).uri("/").body(Body::empty()).unwrap();
        request.extensions_mut().insert(Peer(from.parse().unwrap()));
        matches!(limiter.decide(&request, &TrustedProxies::default()), Decision::Admitted)
    }

    #[test]
    fn an_address_has_a_bucket_for_each_kind_of_request() {
        let (limiter, _) = limiter();
        for method in ["GET", "PUT"] {
            let admitted = |from| admitted(&limiter, method, from);
            assert!(admitted("192.0.2.1") && admitted("192.0.2.1") && !admitted("192.0.2.1"), "{method}");
            assert!(admitted("192.0.2.2"), "another address has its own");
        }
    }

    #[tokio::test]
    async fn an_address_has_a_bucket_for_registrations() {
        let (limiter, _) = limiter();
        let admitted = async |from: &str| limiter.admit_sign_up(from.parse().unwrap()).await.is_ok();
        assert!(admitted("192.0.2.1").await && admitted("192.0.2.1").await && !admitted("192.0.2.1").await);
        assert!(admitted("192.0.2.2").await);
        assert!(admitted("2001:db8::1").await && admitted("2001:db8::2").await && !admitted("2001:db8::3").await);
    }

    #[tokio::test]
    async fn searches_are_counted_by_network_and_by_member() {
        let (limiter, _) = limiter();
        let admitted = async |from: &str, member: Option<i64>| {
            limiter.admit_search(from.parse().unwrap(), member.map(MemberId::from_raw)).await.is_ok()
        };
        assert!(admitted("192.0.2.1", None).await && admitted("192.0.2.1", None).await);
        assert!(!admitted("192.0.2.1", None).await, "two from one network");
        assert!(admitted("192.0.2.2", Some(7)).await && admitted("192.0.2.3", Some(7)).await);
        assert!(!admitted("192.0.2.4", Some(7)).await, "and two of one member, from wherever");
    }

    #[test]
    fn a_customers_network_is_one_address() {
        let (limiter, _) = limiter();
        let admitted = |from| admitted(&limiter, "GET", from);
        assert!(admitted("2001:db8::1") && admitted("2001:db8::2") && !admitted("2001:db8::3"));
        assert!(admitted("2001:db8:0:1::1"));
    }

    #[tokio::test]
    async fn a_new_member_writes_less() {
        let (limiter, clock) = limiter();
        let lease = NodeLease { node: NodeId(1), from_ms: 0, until_ms: i64::MAX };
        let member: MemberId = IdGenerator::new(clock.clone(), lease).next(ShardId::HOME).unwrap();
        let writes = async || {
            let mut admitted = 0;
            for _ in 0..9 {
                admitted += usize::from(limiter.admit_write(member).await.is_ok());
            }
            admitted
        };
        assert_eq!(writes().await, 2);
        clock.advance(NEW_MEMBER);
        assert_eq!(writes().await, 2, "four, of which two are spent");
    }

    fn stranger(from: &str) -> Guesser {
        Guesser::Stranger(from.parse().unwrap())
    }

    #[tokio::test]
    async fn strangers_guess_as_often_as_their_network_and_the_account_allow() {
        let (limiter, _) = limiter();
        let tried = async |name, from| limiter.admit_password_check(name, stranger(from)).await.is_ok();
        assert!(tried("anna", "192.0.2.1").await && tried("anna", "192.0.2.1").await);
        assert!(!tried("anna", "192.0.2.1").await, "two from one network");
        assert!(!tried("ben", "192.0.2.1").await, "and two of all accounts together");
        assert!(tried("anna", "192.0.2.2").await, "a third from another");
        assert!(!tried("anna", "192.0.2.3").await, "and no more from wherever");
        assert!(tried("ben", "192.0.2.3").await, "another account has its own");
    }

    #[tokio::test]
    async fn one_house_is_one_network_to_whoever_guesses() {
        let (limiter, _) = limiter();
        let tried = async |from| limiter.admit_password_check("anna", stranger(from)).await.is_ok();
        assert!(tried("2001:db8::1").await && tried("2001:db8::2").await && !tried("2001:db8::3").await);
    }

    #[tokio::test]
    async fn strangers_use_up_nothing_of_a_devices_guesses() {
        let (limiter, _) = limiter();
        for number in 0..50 {
            let _ = limiter.admit_password_check("anna", stranger(&format!("192.0.2.{number}"))).await;
        }
        assert!(limiter.admit_password_check("anna", stranger("198.51.100.1")).await.is_err());
        let tried = async |guesser| limiter.admit_password_check("anna", guesser).await.is_ok();
        let (device, session) = (Guesser::Device(7), Guesser::Session(SessionId::from_raw(7)));
        assert!(tried(device).await && tried(device).await && !tried(device).await, "it has a bucket of its own");
        assert!(tried(session).await && tried(Guesser::Device(8)).await);
    }

    /// A common bucket of so many tokens that never fills; away when there is none. Counts who asks.
    struct Common(Mutex<(Option<u32>, usize)>);

    #[async_trait::async_trait]
    impl SharedBuckets for Common {
        async fn take_up_to(&self, _: &str, _: Bucket, count: u32) -> Result<Portion, madang_kernel::StoreError> {
            let mut state = self.0.lock().unwrap();
            state.1 += 1;
            let Some(left) = &mut state.0 else {
                return Err(madang_kernel::StoreError::unavailable("Redis", "is away"));
            };
            let tokens = count.min(*left);
            *left -= tokens;
            Ok(Portion { tokens, retry_after: Duration::from_secs(7) })
        }
    }

    fn common(tokens: Option<u32>, own: Bucket) -> (Limiter, Arc<Common>) {
        let common = Arc::new(Common(Mutex::new((tokens, 0))));
        let clock = Arc::new(ManualClock::at(Timestamp::from_millis(1_800_000_000_000)));
        let limits = RateLimits { reads: own, sign_ins_of_device: own, ..RateLimits::default() };
        (Limiter::sharing(limits, MemoryBuckets::default(), common.clone(), clock), common)
    }

    /// How many of `count` reads of one address go on.
    async fn reads(limiter: &Limiter, count: usize) -> usize {
        let mut admitted = 0;
        for _ in 0..count {
            let request = Request::builder().uri("/").body(Body::empty()).unwrap();
            let decision = limiter.decide(&request, &TrustedProxies::default());
            admitted += usize::from(limiter.settle(decision).await.is_ok());
        }
        admitted
    }

    #[tokio::test]
    async fn reads_fetch_their_tokens_in_portions_and_others_one_by_one() {
        let (limiter, common) = common(Some(60), Bucket::per_hour(1, 500));
        assert_eq!(reads(&limiter, 100).await, 60);
        let asked = common.0.lock().unwrap().1;
        assert_eq!(asked, 3 + 40, "25, 25, 10, and nothing for each of the rest");
        assert!(limiter.admit_password_check("anna", Guesser::Device(7)).await.is_err());
    }

    #[tokio::test]
    async fn without_the_common_buckets_a_process_goes_by_its_own() {
        let (limiter, _) = common(None, Bucket::per_hour(1, 30));
        assert_eq!(reads(&limiter, 100).await, 30);
    }

    #[tokio::test]
    async fn a_flood_is_refused_without_asking() {
        let (limiter, common) = common(Some(1_000), Bucket::per_hour(1, 2));
        for _ in 0..50 {
            let _ = limiter.admit_password_check("anna", Guesser::Device(7)).await;
        }
        assert_eq!(common.0.lock().unwrap().1, 2);
    }
}
