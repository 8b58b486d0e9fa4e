//! What every [`MemberStore`] must do: names are unique, and what tokens do not know can be polled without a gap.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use madang_kernel::{Id, MemberId, Role, SessionId, Timestamp};
use madang_member::{CreateMember, Member, MemberStore, NewMember, Revocation, RevocationCursor};
use tokio::task::JoinSet;

/// An adapter under test.
pub trait MemberStoreHarness: Send + Sync + Sized + 'static {
    /// An empty store of its own.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The store.
    fn store(&self) -> Arc<dyn MemberStore>;
}

listed_suite! {
    $ member_store_suite, member_store, MemberStoreHarness;
    a_member_is_found_as_registered,
    a_name_belongs_to_one_member,
    of_concurrent_registrations_of_one_name_one_succeeds,
    many_are_registered_without_those_whose_name_is_taken,
    a_role_change_is_stored_and_revoked_together,
    only_the_newest_role_of_a_member_is_polled,
    the_first_administrator_is_noticed,
    ended_sessions_are_polled_in_order_once,
    polling_is_complete_beside_concurrent_writers,
    ended_sessions_are_forgotten_when_their_tokens_expire,
}

async fn a_member_is_found_as_registered<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    let new = newcomer(1, "마당🌳");
    assert_eq!(store.create(new.clone()).await.unwrap(), CreateMember::Created);
    assert_eq!(store.find(MemberId::from_raw(1)).await.unwrap(), Some(new.member.clone()));
    let found = store.find_credentials("마당🌳").await.unwrap().unwrap();
    assert_eq!((found.member, found.password_hash), (new.member, new.password_hash));
    assert_eq!(store.find(MemberId::from_raw(2)).await.unwrap(), None);
    assert!(store.find_credentials("마당").await.unwrap().is_none());
    assert!(store.find_credentials("").await.unwrap().is_none());
}

async fn a_name_belongs_to_one_member<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    let first = newcomer(1, "ann");
    store.create(first.clone()).await.unwrap();
    let mut second = newcomer(2, "ann");
    second.member.name = "Ann".into();
    assert_eq!(store.create(second).await.unwrap(), CreateMember::NameTaken);
    assert_eq!(store.find(MemberId::from_raw(2)).await.unwrap(), None);
    assert_eq!(store.find_credentials("ann").await.unwrap().unwrap().member, first.member);
}

async fn of_concurrent_registrations_of_one_name_one_succeeds<H: MemberStoreHarness>(harness: H) {
    let mut callers = JoinSet::new();
    for id in 1..=32 {
        let store = harness.store();
        callers.spawn(async move { store.create(newcomer(id, "ann")).await.unwrap() });
    }
    let outcomes = callers.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == CreateMember::Created).count(), 1);
}

async fn many_are_registered_without_those_whose_name_is_taken<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    store.create(newcomer(1, "seed3")).await.unwrap();
    let many: Vec<_> = (0..450).map(|number| newcomer(1_000 + number, &format!("seed{number}"))).collect();
    assert_eq!(store.create_many(many).await.unwrap(), 449);
    assert_eq!(store.create_many(Vec::new()).await.unwrap(), 0);
    assert_eq!(store.find_credentials("seed3").await.unwrap().unwrap().member.member_id.raw(), 1);
    assert_eq!(store.find(MemberId::from_raw(1_449)).await.unwrap().unwrap().name, "seed449");
}

async fn a_role_change_is_stored_and_revoked_together<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    let member_id = MemberId::from_raw(1);
    store.create(newcomer(1, "ann")).await.unwrap();
    let changed = store.set_role(member_id, Role::Moderator).await.unwrap().unwrap();
    assert_eq!(changed, Member { role: Role::Moderator, ..newcomer(1, "ann").member });
    assert_eq!(store.find(member_id).await.unwrap(), Some(changed));
    let (revoked, _) = store.revocations(RevocationCursor::default(), 10).await.unwrap();
    assert_eq!(revoked, [Revocation::RoleChanged { member_id, role: Role::Moderator }]);
    assert_eq!(store.set_role(MemberId::from_raw(2), Role::Admin).await.unwrap(), None);
    assert_eq!(store.revocations(RevocationCursor::default(), 10).await.unwrap().0.len(), 1);
}

async fn only_the_newest_role_of_a_member_is_polled<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    let member_id = MemberId::from_raw(1);
    store.create(newcomer(1, "ann")).await.unwrap();
    store.set_role(member_id, Role::Moderator).await.unwrap();
    let (_, cursor) = store.revocations(RevocationCursor::default(), 10).await.unwrap();
    for role in [Role::Admin, Role::Member, Role::Moderator, Role::Member] {
        store.set_role(member_id, role).await.unwrap();
    }
    let newest = [Revocation::RoleChanged { member_id, role: Role::Member }];
    assert_eq!(store.revocations(cursor, 10).await.unwrap().0.last(), newest.last());
    assert_eq!(store.revocations(RevocationCursor::default(), 10).await.unwrap().0.last(), newest.last());
}

async fn the_first_administrator_is_noticed<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    assert!(!store.has_admin().await.unwrap());
    store.create(newcomer(1, "ann")).await.unwrap();
    store.set_role(MemberId::from_raw(1), Role::Moderator).await.unwrap();
    assert!(!store.has_admin().await.unwrap());
    store.set_role(MemberId::from_raw(1), Role::Admin).await.unwrap();
    assert!(store.has_admin().await.unwrap());
    store.set_role(MemberId::from_raw(1), Role::Member).await.unwrap();
    assert!(!store.has_admin().await.unwrap());
    let mut chief = newcomer(2, "chief");
    chief.member.role = Role::Admin;
    store.create(chief).await.unwrap();
    assert!(store.has_admin().await.unwrap());
}

async fn ended_sessions_are_polled_in_order_once<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    for session in [5, 3, 9, 3] {
        store.end_session(SessionId::from_raw(session), Timestamp::from_millis(1_000 + session)).await.unwrap();
    }
    let (first, cursor) = store.revocations(RevocationCursor::default(), 2).await.unwrap();
    assert_eq!(first, [ended(5), ended(3)]);
    let (second, cursor) = store.revocations(cursor, 2).await.unwrap();
    assert_eq!(second, [ended(9)]);
    let (none, same) = store.revocations(cursor, 2).await.unwrap();
    assert_eq!((none, same), (Vec::new(), cursor));
}

async fn polling_is_complete_beside_concurrent_writers<H: MemberStoreHarness>(harness: H) {
    const WRITERS: i64 = 16;
    const SESSIONS_EACH: i64 = 20;
    let store = harness.store();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let store = harness.store();
        writers.spawn(async move {
            for session in 1..=SESSIONS_EACH {
                let id = SessionId::from_raw(writer * SESSIONS_EACH + session);
                store.end_session(id, Timestamp::from_millis(1_000)).await.unwrap();
            }
        });
    }
    let mut seen = HashSet::new();
    let mut cursor = RevocationCursor::default();
    loop {
        // Read before the poll: what committed by then must be in it.
        let all_done = writers.is_empty();
        let (revoked, next) = store.revocations(cursor, 7).await.unwrap();
        assert!(next >= cursor);
        cursor = next;
        let idle = revoked.is_empty();
        for revocation in revoked {
            let Revocation::SessionEnded { session_id, .. } = revocation else { panic!("only sessions") };
            assert!(seen.insert(session_id), "{session_id} twice");
        }
        if all_done && idle {
            break;
        }
        while writers.try_join_next().is_some() {}
    }
    assert_eq!(seen.len() as i64, WRITERS * SESSIONS_EACH);
}

async fn ended_sessions_are_forgotten_when_their_tokens_expire<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    store.create(newcomer(1, "ann")).await.unwrap();
    store.set_role(MemberId::from_raw(1), Role::Moderator).await.unwrap();
    for session in 1..=500 {
        store.end_session(SessionId::from_raw(session), Timestamp::from_millis(1_000 + session)).await.unwrap();
    }
    assert_eq!(store.forget_expired(Timestamp::from_millis(1_000)).await.unwrap(), 0);
    assert_eq!(store.forget_expired(Timestamp::from_millis(1_499)).await.unwrap(), 499);
    let (left, cursor) = store.revocations(RevocationCursor::default(), 10).await.unwrap();
    let role = Revocation::RoleChanged { member_id: MemberId::from_raw(1), role: Role::Moderator };
    assert_eq!(left, [role, ended(500)]);
    assert_eq!(store.forget_expired(Timestamp::from_millis(9_999)).await.unwrap(), 1);
    // A cursor stays good although everything it passed is gone.
    store.end_session(SessionId::from_raw(501), Timestamp::from_millis(1_501)).await.unwrap();
    assert_eq!(store.revocations(cursor, 10).await.unwrap().0, [ended(501)]);
}

fn ended(session: i64) -> Revocation {
    Revocation::SessionEnded {
        session_id: SessionId::from_raw(session),
        expires_at: Timestamp::from_millis(1_000 + session),
    }
}

fn newcomer(id: i64, name: &str) -> NewMember {
    let member = Member {
        member_id: MemberId::from_raw(id),
        name: name.to_owned(),
        role: Role::Member,
        created_at: Timestamp::from_millis(1_750_000_000_000 + id),
    };
    NewMember { member, name_key: name.to_owned(), password_hash: format!("$argon2id${name}") }
}
