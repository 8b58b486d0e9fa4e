//! Links by which members choose a new password: one for each, good once and for a while.

use madang_board::{MemberId, Role, SessionId};
use madang_kernel::{Id, Timestamp};
use madang_member::{Change, ChangeMember, ChangeOutcome, ChangeRefused, PasswordReset, Proof};
use tokio::task::JoinSet;

use super::{MemberStoreHarness, NOW, change, changed, newcomer};

fn reset(member: i64, digest: u8) -> PasswordReset {
    let expires_at = Timestamp::from_millis(NOW.as_millis() + 1_000);
    PasswordReset { member_id: MemberId::from_raw(member), digest: [digest; 32], expires_at }
}

fn used(digest: u8, hash: &str) -> Change {
    Change::UseReset { digest: [digest; 32], hash: hash.to_owned() }
}

pub(super) async fn a_member_has_one_link_and_the_newest_counts<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    for (id, name) in [(1, "ann"), (2, "ben")] {
        store.create(newcomer(id, name)).await.unwrap();
    }
    assert_eq!(store.find_reset([1; 32]).await.unwrap(), None);
    for (member, digest) in [(1, 1), (2, 2), (1, 3)] {
        changed(&store, member, Change::IssueReset(reset(member, digest), Proof::Session)).await;
    }
    assert_eq!(store.find_reset([1; 32]).await.unwrap(), None);
    assert_eq!(store.find_reset([2; 32]).await.unwrap(), Some(reset(2, 2)));
    assert_eq!(store.find_reset([3; 32]).await.unwrap(), Some(reset(1, 3)));
    let refused = ChangeOutcome::Refused(ChangeRefused::NoSuchReset);
    for digest in [1, 2, 9] {
        assert_eq!(change(&store, 1, used(digest, "new")).await, refused, "not theirs, or not the newest");
    }
    assert_eq!(change(&store, 9, Change::IssueReset(reset(9, 9), Proof::Session)).await, ChangeOutcome::Absent);
    assert_eq!(store.find_reset([9; 32]).await.unwrap(), None);
}

pub(super) async fn a_link_is_good_once_and_until_its_moment<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    store.create(newcomer(1, "ann")).await.unwrap();
    changed(&store, 1, Change::IssueReset(reset(1, 1), Proof::Session)).await;
    let (member_id, late) = (MemberId::from_raw(1), reset(1, 1).expires_at);
    let too_late = ChangeMember { member_id, change: used(1, "new"), changed_at: late, act: None };
    let refused = ChangeOutcome::Refused(ChangeRefused::NoSuchReset);
    assert_eq!(store.change(too_late).await.unwrap(), refused);
    let record = changed(&store, 1, used(1, "new")).await;
    assert_eq!((record.password_hash.as_str(), record.standing.passwords), ("new", 1));
    assert_eq!(store.find_credentials("ann").await.unwrap(), Some(record));
    assert_eq!(store.find_reset([1; 32]).await.unwrap(), None);
    assert_eq!(change(&store, 1, used(1, "again")).await, refused);
}

pub(super) async fn of_uses_of_one_link_at_once_one_holds<H: MemberStoreHarness>(harness: H) {
    const CALLERS: i64 = 8;
    let store = harness.store();
    store.create(newcomer(1, "ann")).await.unwrap();
    changed(&store, 1, Change::IssueReset(reset(1, 1), Proof::Session)).await;
    let mut callers = JoinSet::new();
    for caller in 1..=CALLERS {
        let store = harness.store();
        callers.spawn(async move { change(&store, 1, used(1, &format!("hash{caller}"))).await });
    }
    let outcomes = callers.join_all().await;
    let held = outcomes.iter().filter(|outcome| matches!(outcome, ChangeOutcome::Changed(_))).count();
    assert_eq!(held, 1, "{outcomes:?}");
    assert_eq!(store.find_credentials("ann").await.unwrap().unwrap().standing.passwords, 1);
}

pub(super) async fn a_link_goes_with_a_new_password_and_with_its_time<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    for (id, name) in [(1, "ann"), (2, "ben")] {
        store.create(newcomer(id, name)).await.unwrap();
        changed(&store, id, Change::IssueReset(reset(id, id as u8), Proof::Session)).await;
    }
    let own = Change::Password { hash: "own".into(), keep: SessionId::from_raw(1), after: 0 };
    changed(&store, 1, own).await;
    assert_eq!(store.find_reset([1; 32]).await.unwrap(), None, "whoever knows a password needs no link");
    store.forget_expired(NOW).await.unwrap();
    assert_eq!(store.find_reset([2; 32]).await.unwrap(), Some(reset(2, 2)));
    store.forget_expired(reset(2, 2).expires_at).await.unwrap();
    assert_eq!(store.find_reset([2; 32]).await.unwrap(), None);
}

pub(super) async fn links_are_void_once_an_administrator_is_none_any_more<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    for (id, name) in [(1, "ann"), (2, "ben"), (3, "cem"), (4, "dan")] {
        store.create(newcomer(id, name)).await.unwrap();
    }
    for id in [1, 2] {
        changed(&store, id, Change::Role(Role::Admin)).await;
    }
    changed(&store, 3, Change::IssueReset(reset(3, 3), Proof::Session)).await;
    changed(&store, 4, Change::Role(Role::Moderator)).await;
    assert_eq!(store.find_reset([3; 32]).await.unwrap(), Some(reset(3, 3)), "nobody lost the right to give it out");
    changed(&store, 2, Change::Role(Role::Member)).await;
    assert_eq!(store.find_reset([3; 32]).await.unwrap(), None, "it may have been theirs");
}

pub(super) async fn a_link_does_not_outlive_a_change_of_its_members_role<H: MemberStoreHarness>(harness: H) {
    let store = harness.store();
    for (id, name) in [(1, "ann"), (2, "ben")] {
        store.create(newcomer(id, name)).await.unwrap();
        changed(&store, id, Change::IssueReset(reset(id, id as u8), Proof::Session)).await;
    }
    changed(&store, 1, Change::Role(Role::Admin)).await;
    assert_eq!(
        store.find_reset([1; 32]).await.unwrap(),
        None,
        "it was made for a member, with less asked of who made it"
    );
    assert_eq!(store.find_reset([2; 32]).await.unwrap(), Some(reset(2, 2)), "others keep theirs");
}
