//! What every [`MemberStore`] must do: names are unique, and what tokens do not know can be polled without a gap.

mod resets;

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;

use madang_board::{Act, ActId, ActKind, Actor, BoardId, MemberId, REASON_MAX_CHARS, Role, SessionId};
use madang_kernel::{Id, Timestamp};
use madang_member::{
    Change, ChangeMember, ChangeOutcome, ChangeRefused, CreateMember, MODERATES_MAX, Member, MemberRecord, MemberStore,
    NewMember, Revocation, RevocationCursor, SessionRecord, Standing, Suspension, forgettable_at,
};
use tokio::task::JoinSet;

use resets::*;

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
    the_looks_of_a_name_belong_to_one_member,
    of_concurrent_registrations_of_one_look_one_succeeds,
    nobody_is_without_a_skeleton_who_registers,
    those_who_run_the_site_are_listed,
    of_concurrent_registrations_of_one_name_one_succeeds,
    many_are_registered_without_those_whose_name_is_taken,
    a_change_is_stored_and_revoked_together,
    every_kind_of_change_is_kept,
    a_suspension_keeps_its_reason_however_long,
    only_the_newest_state_of_a_member_is_polled,
    the_last_administrator_is_not_demoted,
    of_administrators_who_demote_each_other_at_once_one_stays,
    of_two_who_demote_each_other_only_the_first_does,
    of_password_changes_at_once_that_knew_the_same_one_one_holds,
    a_member_has_one_link_and_the_newest_counts,
    a_link_is_good_once_and_until_its_moment,
    of_uses_of_one_link_at_once_one_holds,
    a_link_goes_with_a_new_password_and_with_its_time,
    links_are_void_once_an_administrator_is_none_any_more,
    a_link_does_not_outlive_a_change_of_its_members_role,
    sessions_are_listed_with_the_newest_first,
    a_session_is_noted_when_it_is_used_and_never_earlier,
    sessions_go_when_they_expire,
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

async fn the_looks_of_a_name_belong_to_one_member<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    store.create(newcomer(1, "admin")).await.unwrap();
    let look_alike = NewMember { skeleton: "admin".into(), ..newcomer(2, "аdmin") };
    assert_eq!(store.create(look_alike.clone()).await.unwrap(), CreateMember::NameTaken);
    assert!(store.find_credentials("аdmin").await.unwrap().is_none());
    assert_eq!(store.create_many(vec![look_alike, newcomer(3, "ann")]).await.unwrap(), 1);
    let same_looks = |id, name| NewMember { skeleton: "looks".into(), ..newcomer(id, name) };
    assert_eq!(store.create_many(vec![same_looks(4, "one"), same_looks(5, "two")]).await.unwrap(), 1, "in one batch");
}

async fn of_concurrent_registrations_of_one_look_one_succeeds<H: MemberStoreHarness>(harness: H) {
    let mut callers = JoinSet::new();
    for id in 1..=32 {
        let store = harness.store();
        let new = NewMember { skeleton: "ann".into(), ..newcomer(id, &format!("ann{id}")) };
        callers.spawn(async move { store.create(new).await.unwrap() });
    }
    let outcomes = callers.join_all().await;
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == CreateMember::Created).count(), 1);
}

async fn nobody_is_without_a_skeleton_who_registers<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    store.create(newcomer(1, "ann")).await.unwrap();
    assert_eq!(store.give_skeletons(10).await.unwrap(), 0);
}

async fn those_who_run_the_site_are_listed<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    for (id, role) in [(1, Role::Member), (2, Role::Admin), (3, Role::Member)] {
        let mut new = newcomer(id, &format!("ann{id}"));
        new.member.role = role;
        store.create(new).await.unwrap();
    }
    changed(&store, 3, Change::Role(Role::Moderator)).await;
    let mut staff = store.staff(10).await.unwrap();
    staff.sort_by_key(|member| member.member_id);
    let staff: Vec<_> = staff.iter().map(|member| (member.member_id.raw(), member.role)).collect();
    assert_eq!(staff, [(2, Role::Admin), (3, Role::Moderator)]);
    assert_eq!(store.staff(1).await.unwrap().len(), 1);
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

async fn a_change_is_stored_and_revoked_together<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    let member_id = MemberId::from_raw(1);
    store.create(newcomer(1, "ann")).await.unwrap();
    let changed = changed(&store, 1, Change::Role(Role::Moderator)).await;
    assert_eq!(changed.member, Member { role: Role::Moderator, ..newcomer(1, "ann").member });
    assert_eq!(store.find(member_id).await.unwrap(), Some(changed.member.clone()));
    assert_eq!(store.find_credentials("ann").await.unwrap(), Some(changed.clone()));
    let (revoked, _) = store.revocations(RevocationCursor::default(), 10).await.unwrap();
    let standing = Standing { version: 1, ..Standing::default() };
    assert_eq!(revoked, [Revocation::MemberChanged { member_id, role: Role::Moderator, standing }]);
    assert_eq!(change(&store, 2, Change::Role(Role::Admin)).await, ChangeOutcome::Absent);
    assert_eq!(store.revocations(RevocationCursor::default(), 10).await.unwrap().0.len(), 1);
}

async fn every_kind_of_change_is_kept<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    store.create(newcomer(1, "ann")).await.unwrap();
    let (until, keep) = (Timestamp::from_millis(1_760_000_000_000), SessionId::from_raw(7));
    let mut expected = store.find_credentials("ann").await.unwrap().unwrap();
    for next in [
        Change::Suspend { until, by: Role::Admin },
        Change::Appoint(BoardId::from_raw(i64::MAX)),
        Change::Appoint(BoardId::from_raw(5)),
        Change::Password { hash: "$argon2id$other".into(), keep, after: 0 },
        Change::EndOtherSessions { keep: SessionId::from_raw(8) },
        Change::LiftSuspension { by: Role::Admin },
        Change::Dismiss(BoardId::from_raw(5)),
        Change::Role(Role::Admin),
    ] {
        expected = expected.changed(&next, NOW, false).unwrap();
        assert_eq!(changed(&store, 1, next).await, expected);
        assert_eq!(store.find_credentials("ann").await.unwrap(), Some(expected.clone()));
        let (revoked, _) = store.revocations(RevocationCursor::default(), 10).await.unwrap();
        let (role, standing) = (expected.member.role, expected.standing.clone());
        let told = Revocation::MemberChanged { member_id: MemberId::from_raw(1), role, standing };
        assert_eq!(revoked.last(), Some(&told));
    }
    let refused = change(&store, 1, Change::Suspend { until, by: Role::Admin }).await;
    assert_eq!(refused, ChangeOutcome::Refused(ChangeRefused::NotBelow));
    assert_eq!(store.find_credentials("ann").await.unwrap(), Some(expected));
}

async fn a_suspension_keeps_its_reason_however_long<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    store.create(newcomer(1, "ann")).await.unwrap();
    let mut moderator = newcomer(2, "mo");
    moderator.member.role = Role::Moderator;
    store.create(moderator).await.unwrap();
    // With as many boards beside it as one may moderate, which is as large as a standing becomes.
    for board in 0..MODERATES_MAX as i64 {
        changed(&store, 1, Change::Appoint(BoardId::from_raw(i64::MAX - board))).await;
    }
    let actor = Actor::new(MemberId::from_raw(2), "mo", Role::Moderator);
    let mut act = Act::of(&actor, ActId::from_raw(3), ActKind::MemberSuspended, 1, NOW);
    act.reason = "🌳".repeat(REASON_MAX_CHARS);
    let until = Timestamp::from_millis(NOW.as_millis() + 1);
    let change = Change::Suspend { until, by: Role::Moderator };
    let change = ChangeMember { member_id: MemberId::from_raw(1), change, changed_at: NOW, act: Some(act.clone()) };
    assert!(matches!(store.change(change).await.unwrap(), ChangeOutcome::Changed(_)));
    let expected = Some(Suspension { until, reason: act.reason });
    let found = store.find_credentials("ann").await.unwrap().unwrap();
    assert_eq!(found.standing.suspension(NOW), expected);
    let (revoked, _) = store.revocations(RevocationCursor::default(), 100).await.unwrap();
    let Some(Revocation::MemberChanged { standing, .. }) = revoked.last() else { panic!("{revoked:?}") };
    assert_eq!(standing.suspension(NOW), expected);
    assert_eq!(standing.suspension(until), None);
}

async fn only_the_newest_state_of_a_member_is_polled<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    store.create(newcomer(1, "ann")).await.unwrap();
    store.create(newcomer(2, "chief")).await.unwrap();
    changed(&store, 2, Change::Role(Role::Admin)).await;
    changed(&store, 1, Change::Role(Role::Moderator)).await;
    let (_, cursor) = store.revocations(RevocationCursor::default(), 10).await.unwrap();
    for role in [Role::Admin, Role::Member, Role::Moderator, Role::Member] {
        changed(&store, 1, Change::Role(role)).await;
    }
    let (member_id, role) = (MemberId::from_raw(1), Role::Member);
    let newest =
        Revocation::MemberChanged { member_id, role, standing: Standing { version: 5, ..Standing::default() } };
    assert_eq!(store.revocations(cursor, 10).await.unwrap().0.last(), Some(&newest));
    assert_eq!(store.revocations(RevocationCursor::default(), 10).await.unwrap().0.last(), Some(&newest));
}

async fn the_last_administrator_is_not_demoted<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    assert!(!store.has_admin().await.unwrap());
    store.create(newcomer(1, "ann")).await.unwrap();
    changed(&store, 1, Change::Role(Role::Moderator)).await;
    assert!(!store.has_admin().await.unwrap());
    changed(&store, 1, Change::Role(Role::Admin)).await;
    assert!(store.has_admin().await.unwrap());
    let refused = change(&store, 1, Change::Role(Role::Member)).await;
    assert_eq!(refused, ChangeOutcome::Refused(ChangeRefused::LastAdmin));
    let mut chief = newcomer(2, "chief");
    chief.member.role = Role::Admin;
    store.create(chief).await.unwrap();
    changed(&store, 1, Change::Role(Role::Member)).await;
    let refused = change(&store, 2, Change::Role(Role::Member)).await;
    assert_eq!(refused, ChangeOutcome::Refused(ChangeRefused::LastAdmin));
    assert!(store.has_admin().await.unwrap());
}

async fn of_administrators_who_demote_each_other_at_once_one_stays<H: MemberStoreHarness>(harness: H) {
    const ADMINS: i64 = 8;
    for id in 1..=ADMINS {
        let mut admin = newcomer(id, &format!("admin{id}"));
        admin.member.role = Role::Admin;
        harness.store().create(admin).await.unwrap();
    }
    let mut callers = JoinSet::new();
    for id in 1..=ADMINS {
        let store = harness.store();
        callers.spawn(async move { change(&store, id, Change::Role(Role::Member)).await });
    }
    let outcomes = callers.join_all().await;
    let refused = ChangeOutcome::Refused(ChangeRefused::LastAdmin);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == refused).count(), 1, "{outcomes:?}");
    assert!(harness.store().has_admin().await.unwrap());
}

async fn of_two_who_demote_each_other_only_the_first_does<H: MemberStoreHarness>(harness: H) {
    for id in 1..=3 {
        let mut admin = newcomer(id, &format!("admin{id}"));
        admin.member.role = Role::Admin;
        harness.store().create(admin).await.unwrap();
    }
    let mut callers = JoinSet::new();
    for (actor, member) in [(1, 2), (2, 1)] {
        let store = harness.store();
        let actor = Actor::new(MemberId::from_raw(actor), "admin", Role::Admin);
        let act = Act::of(&actor, ActId::from_raw(member), ActKind::RoleGiven, member, NOW);
        let (member_id, change) = (MemberId::from_raw(member), Change::Role(Role::Member));
        let change = ChangeMember { member_id, change, changed_at: NOW, act: Some(act) };
        callers.spawn(async move { store.change(change).await.unwrap() });
    }
    let outcomes = callers.join_all().await;
    let refused = |outcome: &&ChangeOutcome| matches!(outcome, ChangeOutcome::Refused(ChangeRefused::NotAllowed(_)));
    assert_eq!(outcomes.iter().filter(refused).count(), 1, "{outcomes:?}");
}

async fn of_password_changes_at_once_that_knew_the_same_one_one_holds<H: MemberStoreHarness>(harness: H) {
    const CALLERS: i64 = 8;
    harness.store().create(newcomer(1, "ann")).await.unwrap();
    let mut callers = JoinSet::new();
    for caller in 1..=CALLERS {
        let store = harness.store();
        let change_to = Change::Password { hash: format!("hash{caller}"), keep: SessionId::from_raw(caller), after: 0 };
        callers.spawn(async move { change(&store, 1, change_to).await });
    }
    let outcomes = callers.join_all().await;
    let changed = outcomes.iter().filter(|outcome| matches!(outcome, ChangeOutcome::Changed(_))).count();
    assert_eq!(changed, 1, "{outcomes:?}");
    assert_eq!(harness.store().find_credentials("ann").await.unwrap().unwrap().standing.passwords, 1);
}

fn session(id: i64, member: i64) -> SessionRecord {
    SessionRecord {
        session_id: SessionId::from_raw(id),
        member_id: MemberId::from_raw(member),
        created_at: Timestamp::from_millis(1_000 + id % 1_000_000),
        last_seen_at: Timestamp::from_millis(2_000 + id % 1_000_000),
        expires_at: Timestamp::from_millis(5_000 + id % 1_000_000),
        passwords: 3,
        agent: format!("브라우저/{id} 🌳"),
    }
}

async fn sessions_are_listed_with_the_newest_first<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    for (id, member) in [(1, 7), (3, 7), (2, 8), (i64::MAX, 7)] {
        store.add_session(session(id, member)).await.unwrap();
    }
    let listed = store.sessions(MemberId::from_raw(7), 2).await.unwrap();
    assert_eq!(listed, [session(i64::MAX, 7), session(3, 7)]);
    assert_eq!(store.sessions(MemberId::from_raw(9), 2).await.unwrap(), []);
    assert_eq!(store.find_session(SessionId::from_raw(2)).await.unwrap(), Some(session(2, 8)));
    assert_eq!(store.find_session(SessionId::from_raw(4)).await.unwrap(), None);
}

async fn a_session_is_noted_when_it_is_used_and_never_earlier<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    store.add_session(session(1, 7)).await.unwrap();
    let note = async |id, ms| {
        store.note_seen(vec![(SessionId::from_raw(id), Timestamp::from_millis(ms))]).await.unwrap();
        store.find_session(SessionId::from_raw(1)).await.unwrap().unwrap().last_seen_at.as_millis()
    };
    assert_eq!(note(1, 3_000).await, 3_000);
    assert_eq!(note(1, 2_500).await, 3_000, "a process whose clock is behind");
    assert_eq!(note(2, 9_000).await, 3_000, "nobody's session");
    store.note_seen(Vec::new()).await.unwrap();
}

async fn sessions_go_when_they_expire<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    for id in 1..=450 {
        store.add_session(session(id, 7)).await.unwrap();
    }
    assert_eq!(store.forget_expired(Timestamp::from_millis(5_449)).await.unwrap(), 0, "none of them was ended");
    assert_eq!(store.sessions(MemberId::from_raw(7), 10).await.unwrap(), [session(450, 7)]);
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
    changed(&store, 1, Change::Role(Role::Moderator)).await;
    for session in 1..=500 {
        store.end_session(SessionId::from_raw(session), Timestamp::from_millis(1_000 + session)).await.unwrap();
    }
    // A clock that is forty days ahead makes none of them old enough.
    let ahead = Timestamp::from_millis(1_500 + 40 * 24 * 60 * 60 * 1_000);
    assert_eq!(store.forget_expired(forgettable_at(ahead)).await.unwrap(), 0);
    assert_eq!(store.forget_expired(Timestamp::from_millis(1_000)).await.unwrap(), 0);
    assert_eq!(store.forget_expired(Timestamp::from_millis(1_499)).await.unwrap(), 499);
    let (left, cursor) = store.revocations(RevocationCursor::default(), 10).await.unwrap();
    let (member_id, standing) = (MemberId::from_raw(1), Standing { version: 1, ..Standing::default() });
    let role = Revocation::MemberChanged { member_id, role: Role::Moderator, standing };
    assert_eq!(left, [role, ended(500)]);
    assert_eq!(store.forget_expired(Timestamp::from_millis(9_999)).await.unwrap(), 1);
    // A cursor stays good although everything it passed is gone.
    store.end_session(SessionId::from_raw(501), Timestamp::from_millis(1_501)).await.unwrap();
    assert_eq!(store.revocations(cursor, 10).await.unwrap().0, [ended(501)]);
}

const NOW: Timestamp = Timestamp::from_millis(1_750_000_000_000);

async fn change(store: &Arc<dyn MemberStore>, member: i64, change: Change) -> ChangeOutcome {
    let member_id = MemberId::from_raw(member);
    store.change(ChangeMember { member_id, change, changed_at: NOW, act: None }).await.unwrap()
}

async fn changed(store: &Arc<dyn MemberStore>, member: i64, next: Change) -> MemberRecord {
    match change(store, member, next).await {
        ChangeOutcome::Changed(record) => record,
        other => panic!("{other:?}"),
    }
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
    NewMember {
        member,
        name_key: name.to_owned(),
        skeleton: name.to_owned(),
        password_hash: format!("$argon2id${name}"),
    }
}
