//! The rules of the use cases: names are taken once, wrong passwords tell nothing, tokens need no store, roles and
//! ended sessions reach every process.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod memory;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use madang_board::{BoardId, MemberId, Role};
use madang_kernel::{Clock, ID_EPOCH_MS, Id, IdGenerator, ManualClock, NodeId, NodeLease, StoreError, Timestamp};
use madang_member::{
    Client, MemberError, MemberOptions, MemberService, REVOCATIONS_AGE_MAX, Session, Sessions, SignedIn,
};
use memory::MemoryMembers;

const TTL: Duration = Duration::from_secs(3_600);
const PASSWORD: &str = "correct horse";

struct Process {
    service: MemberService,
    clock: Arc<ManualClock>,
}

/// One of several processes over one store; all share the signing key.
fn process(store: &Arc<MemoryMembers>, node: u8) -> Process {
    let now_ms = ID_EPOCH_MS + 1_000_000;
    let clock = Arc::new(ManualClock::at(Timestamp::from_millis(now_ms)));
    let lease = NodeLease { node: NodeId(node), from_ms: now_ms, until_ms: now_ms + 1_000_000_000 };
    let ids = Arc::new(IdGenerator::new(clock.clone(), lease));
    let options = MemberOptions { session_ttl: TTL, hash_memory_kib: 8, hash_passes: 1, ..MemberOptions::default() };
    let service = MemberService::new(store.clone(), ids, clock.clone(), [7; 32], options);
    // The store in memory answers at once, so one look at the future is its end.
    let mut read = std::task::Context::from_waker(std::task::Waker::noop());
    let _ = std::pin::pin!(service.refresh_revocations()).poll(&mut read);
    Process { service, clock }
}

/// Whether a token was neither believed nor called bad: nobody can tell now.
fn is_refused_for_now(known: &Result<Session, MemberError>) -> bool {
    matches!(known, Err(MemberError::Store(StoreError::Unavailable { .. })))
}

async fn signed_in(process: &Process, name: &str, role: Role) -> (SignedIn, Session) {
    process.service.register_with_role(name, PASSWORD, role).await.unwrap();
    let signed_in = process.service.sign_in(name, PASSWORD, Client::default()).await.unwrap();
    let session = process.service.authenticate(&signed_in.token).unwrap();
    (signed_in, session)
}

#[tokio::test]
async fn a_registered_member_signs_in_and_is_known_by_the_token() {
    let process = process(&Arc::default(), 1);
    let member = process.service.register("Zoë", PASSWORD).await.unwrap();
    assert_eq!((member.role, member.created_at), (Role::Member, process.clock.now()), "the first is no administrator");
    assert!(!process.service.has_admin().await.unwrap());
    let signed_in = process.service.sign_in("zoE\u{308}", PASSWORD, Client::default()).await.unwrap();
    assert_eq!((&signed_in.member, signed_in.expires_at), (&member, process.clock.now().plus(TTL)));
    let session = process.service.authenticate(&signed_in.token).unwrap();
    assert_eq!((session.actor.member_id, session.actor.name.as_str()), (member.member_id, "Zoë"));
    assert_eq!((session.actor.role, session.expires_at), (Role::Member, signed_in.expires_at));
    assert_eq!(process.service.get(member.member_id).await.unwrap(), member);
    assert!(matches!(process.service.get(MemberId::from_raw(5)).await, Err(MemberError::NotFound)));
}

#[tokio::test]
async fn a_name_is_taken_in_every_spelling() {
    let process = process(&Arc::default(), 1);
    process.service.register("Anna", PASSWORD).await.unwrap();
    for name in ["Anna", "anna", "ＡＮＮＡ"] {
        assert!(matches!(process.service.register(name, PASSWORD).await, Err(MemberError::NameTaken)), "{name}");
    }
}

#[tokio::test]
async fn both_wrong_fields_are_reported_at_once() {
    let process = process(&Arc::default(), 1);
    let Err(MemberError::Invalid(invalid)) = process.service.register("a b", "short").await else { panic!("accepted") };
    assert_eq!(invalid.0.iter().map(|error| error.field).collect::<Vec<_>>(), ["name", "password"]);
}

#[tokio::test]
async fn wrong_names_and_wrong_passwords_look_the_same() {
    let process = process(&Arc::default(), 1);
    process.service.register("anna", PASSWORD).await.unwrap();
    let too_long = "a".repeat(1_000);
    for (name, password) in
        [("anna", "wrong horse"), ("nobody", PASSWORD), ("a b", PASSWORD), ("anna", ""), ("", ""), ("anna", &too_long)]
    {
        let refused = process.service.sign_in(name, password, Client::default()).await;
        assert!(matches!(refused, Err(MemberError::WrongPassword)), "{name} {password}");
    }
}

#[tokio::test]
async fn a_token_is_verified_while_the_store_is_away() {
    let store = Arc::new(MemoryMembers::default());
    let process = process(&store, 1);
    let (signed_in, _) = signed_in(&process, "anna", Role::Member).await;
    store.away.store(true, Ordering::SeqCst);
    assert!(process.service.authenticate(&signed_in.token).is_ok());
    let refused = process.service.sign_in("anna", PASSWORD, Client::default()).await;
    assert!(matches!(refused, Err(MemberError::Store(StoreError::Unavailable { .. }))));
    process.clock.advance(REVOCATIONS_AGE_MAX);
    assert!(process.service.refresh_revocations().await.is_err(), "and goes on with what it knows");
    assert!(process.service.authenticate(&signed_in.token).is_ok());
    process.clock.advance(Duration::from_millis(1));
    assert!(is_refused_for_now(&process.service.authenticate(&signed_in.token)), "but not past the promised bound");
    store.away.store(false, Ordering::SeqCst);
    process.service.refresh_revocations().await.unwrap();
    assert!(process.service.authenticate(&signed_in.token).is_ok());
    process.clock.set(Timestamp::from_millis(process.clock.now().as_millis() - 3_600_000));
    assert!(is_refused_for_now(&process.service.authenticate(&signed_in.token)), "a clock set back tells no age");
}

#[tokio::test]
async fn a_token_ends_by_itself() {
    let process = process(&Arc::default(), 1);
    let (signed_in, _) = signed_in(&process, "anna", Role::Member).await;
    process.clock.advance(TTL - Duration::from_millis(1));
    process.service.refresh_revocations().await.unwrap();
    assert!(process.service.authenticate(&signed_in.token).is_ok());
    process.clock.advance(Duration::from_millis(1));
    assert!(matches!(process.service.authenticate(&signed_in.token), Err(MemberError::NotSignedIn(_))));
    for garbage in ["", ".", "v1", "Bearer", &"x".repeat(100_000)] {
        assert!(matches!(process.service.authenticate(garbage), Err(MemberError::NotSignedIn(_))));
    }
}

#[tokio::test]
async fn signing_out_ends_one_session_everywhere() {
    let store = Arc::default();
    let (here, there) = (process(&store, 1), process(&store, 2));
    let (first, session) = signed_in(&here, "anna", Role::Member).await;
    let second = here.service.sign_in("anna", PASSWORD, Client::default()).await.unwrap();
    here.service.sign_out(&session).await.unwrap();
    assert!(matches!(here.service.authenticate(&first.token), Err(MemberError::NotSignedIn(_))));
    assert!(here.service.authenticate(&second.token).is_ok());
    assert!(there.service.authenticate(&first.token).is_ok(), "not heard of it yet");
    there.service.refresh_revocations().await.unwrap();
    assert!(matches!(there.service.authenticate(&first.token), Err(MemberError::NotSignedIn(_))));
    assert!(there.service.authenticate(&second.token).is_ok());
    // A process that starts later hears of it too.
    let late = process(&store, 3);
    late.service.refresh_revocations().await.unwrap();
    assert!(late.service.authenticate(&first.token).is_err());
}

#[tokio::test]
async fn a_process_without_the_member_service_knows_who_asks() {
    let store: Arc<MemoryMembers> = Arc::default();
    let here = process(&store, 1);
    let elsewhere = Sessions::new(Arc::new(store.clone()), here.clock.clone(), [7; 32]);
    let (anna, session) = signed_in(&here, "anna", Role::Member).await;
    here.service.sign_out(&session).await.unwrap();
    store.away.store(true, Ordering::SeqCst);
    assert!(elsewhere.refresh().await.is_err());
    assert!(is_refused_for_now(&elsewhere.authenticate(&anna.token)), "it cannot know that the session has ended");
    assert!(!elsewhere.is_current() && elsewhere.refreshed_at().is_none());
    store.away.store(false, Ordering::SeqCst);
    let again = here.service.sign_in("anna", PASSWORD, Client::default()).await.unwrap();
    elsewhere.refresh().await.unwrap();
    assert!(elsewhere.is_current() && elsewhere.refreshed_at() == Some(here.clock.now()));
    assert_eq!(elsewhere.authenticate(&again.token).unwrap().actor, session.actor);
    assert!(matches!(elsewhere.authenticate(&anna.token), Err(MemberError::NotSignedIn(_))));
    let other_key = Sessions::new(Arc::new(store), here.clock.clone(), [8; 32]);
    assert!(other_key.authenticate(&anna.token).is_err());
}

#[tokio::test]
async fn what_the_service_revokes_is_in_force_at_once_in_the_sessions_it_shares() {
    let process = process(&Arc::default(), 1);
    let sessions = process.service.sessions();
    let (_, admin) = signed_in(&process, "admin", Role::Admin).await;
    let (anna, session) = signed_in(&process, "anna", Role::Member).await;
    process.service.set_role(&admin.actor, session.actor.member_id, Role::Moderator).await.unwrap();
    assert_eq!(sessions.authenticate(&anna.token).unwrap().actor.role, Role::Moderator);
    process.service.sign_out(&session).await.unwrap();
    assert!(sessions.authenticate(&anna.token).is_err());
}

#[tokio::test]
async fn a_role_is_in_force_for_tokens_that_know_another() {
    let store = Arc::default();
    let (here, there) = (process(&store, 1), process(&store, 2));
    let (_, admin) = signed_in(&here, "admin", Role::Admin).await;
    let (anna, session) = signed_in(&here, "anna", Role::Member).await;
    let role = |process: &Process| process.service.authenticate(&anna.token).unwrap().actor.role;
    let changed = here.service.set_role(&admin.actor, session.actor.member_id, Role::Moderator).await.unwrap();
    assert_eq!((changed.role, role(&here), role(&there)), (Role::Moderator, Role::Moderator, Role::Member));
    here.service.set_role(&admin.actor, session.actor.member_id, Role::Member).await.unwrap();
    here.service.set_role(&admin.actor, session.actor.member_id, Role::Admin).await.unwrap();
    there.service.refresh_revocations().await.unwrap();
    assert_eq!(role(&there), Role::Admin);
}

#[tokio::test]
async fn only_administrators_give_roles_and_none_demotes_themselves() {
    let process = process(&Arc::default(), 1);
    let (_, admin) = signed_in(&process, "admin", Role::Admin).await;
    let (_, moderator) = signed_in(&process, "moderator", Role::Moderator).await;
    assert!(process.service.has_admin().await.unwrap());
    let own = process.service.set_role(&moderator.actor, moderator.actor.member_id, Role::Admin).await;
    assert!(matches!(own, Err(MemberError::Forbidden(_))));
    let demoted = process.service.set_role(&admin.actor, admin.actor.member_id, Role::Member).await;
    assert!(matches!(demoted, Err(MemberError::Forbidden(_))));
    assert!(process.service.set_role(&admin.actor, admin.actor.member_id, Role::Admin).await.is_ok());
    let absent = process.service.set_role(&admin.actor, MemberId::from_raw(5), Role::Admin).await;
    assert!(matches!(absent, Err(MemberError::NotFound)));
}

#[tokio::test]
async fn more_revocations_than_a_page_are_all_read() {
    let store = Arc::default();
    let (here, there) = (process(&store, 1), process(&store, 2));
    let (anna, mut session) = signed_in(&here, "anna", Role::Member).await;
    let last = session.session_id;
    for raw in 1..=2_500 {
        session.session_id = Id::from_raw(raw);
        here.service.sign_out(&session).await.unwrap();
    }
    session.session_id = last;
    here.service.sign_out(&session).await.unwrap();
    there.service.refresh_revocations().await.unwrap();
    assert!(there.service.authenticate(&anna.token).is_err());
}

#[tokio::test]
async fn seeded_members_have_tokens_and_those_there_before_get_none() {
    let process = process(&Arc::default(), 1);
    process.service.register("seed_3", PASSWORD).await.unwrap();
    let seeded = process.service.seed("seed_", 1, 1_500).await.unwrap();
    assert_eq!(seeded.len(), 1_499);
    let names: Vec<&str> = seeded.iter().map(|signed_in| signed_in.member.name.as_str()).collect();
    assert_eq!((names[0], names[2], names[1_498]), ("seed_1", "seed_4", "seed_1500"));
    for signed_in in &seeded {
        let session = process.service.authenticate(&signed_in.token).unwrap();
        assert_eq!(session.actor.member_id, signed_in.member.member_id);
    }
    assert!(matches!(process.service.seed("no spaces ", 1, 1).await, Err(MemberError::Invalid(_))));
    assert!(matches!(process.service.seed("seed_", 1, u64::MAX).await, Err(MemberError::Invalid(_))));
}

#[tokio::test]
async fn of_two_administrators_who_demote_each_other_one_stays() {
    let process = process(&Arc::default(), 1);
    let (_, anna) = signed_in(&process, "anna", Role::Admin).await;
    let (_, ben) = signed_in(&process, "ben", Role::Admin).await;
    process.service.set_role(&anna.actor, ben.actor.member_id, Role::Member).await.unwrap();
    // Ben's request was let in while he was an administrator.
    let second = process.service.set_role(&ben.actor, anna.actor.member_id, Role::Member).await;
    assert!(matches!(second, Err(MemberError::LastAdmin)), "{second:?}");
    assert!(process.service.has_admin().await.unwrap());
}

#[tokio::test]
async fn a_new_password_ends_the_other_sessions_everywhere() {
    let store = Arc::default();
    let (here, there) = (process(&store, 1), process(&store, 2));
    let (kept, session) = signed_in(&here, "anna", Role::Member).await;
    let other = there.service.sign_in("anna", PASSWORD, Client::default()).await.unwrap();
    let refused = here.service.change_password(&session, "wrong horse", "battery staple").await;
    assert!(matches!(refused, Err(MemberError::Invalid(_))));
    assert!(matches!(here.service.change_password(&session, PASSWORD, "short").await, Err(MemberError::Invalid(_))));
    here.service.change_password(&session, PASSWORD, "battery staple").await.unwrap();
    assert!(here.service.authenticate(&kept.token).is_ok() && here.service.authenticate(&other.token).is_err());
    assert!(there.service.authenticate(&other.token).is_ok(), "not heard of it yet");
    there.service.refresh_revocations().await.unwrap();
    assert!(there.service.authenticate(&kept.token).is_ok() && there.service.authenticate(&other.token).is_err());
    assert!(matches!(
        there.service.sign_in("anna", PASSWORD, Client::default()).await,
        Err(MemberError::WrongPassword)
    ));
    let again = there.service.sign_in("anna", "battery staple", Client::default()).await.unwrap();
    assert!(here.service.authenticate(&again.token).is_ok());
}

#[tokio::test]
async fn a_suspension_is_in_force_at_once_here_and_for_who_signs_in_anywhere() {
    let store = Arc::default();
    let (here, there) = (process(&store, 1), process(&store, 2));
    let (_, moderator) = signed_in(&here, "moderator", Role::Moderator).await;
    let (anna, session) = signed_in(&here, "anna", Role::Member).await;
    let is_suspended =
        |process: &Process, token: &str| process.service.authenticate(token).unwrap().actor.suspended_until.is_some();
    let (until, member_id) = (here.clock.now().plus(Duration::from_secs(60)), session.actor.member_id);
    let past = here.service.suspend(&moderator.actor, member_id, here.clock.now(), "spam").await;
    assert!(matches!(past, Err(MemberError::Invalid(_))));
    here.service.suspend(&moderator.actor, member_id, until, "spam").await.unwrap();
    assert!(is_suspended(&here, &anna.token) && !is_suspended(&there, &anna.token));
    let again = there.service.sign_in("anna", PASSWORD, Client::default()).await.unwrap();
    assert!(is_suspended(&there, &again.token) && is_suspended(&there, &anna.token), "the store knew");
    here.clock.advance(Duration::from_secs(60));
    assert!(!is_suspended(&here, &anna.token), "it ends by itself");
    here.service.suspend(&moderator.actor, member_id, until.plus(Duration::from_secs(60)), "spam").await.unwrap();
    here.service.lift_suspension(&moderator.actor, member_id).await.unwrap();
    assert!(!is_suspended(&here, &anna.token));
    let like = here.service.suspend(&moderator.actor, moderator.actor.member_id, until.plus(TTL), "spam").await;
    assert!(matches!(like, Err(MemberError::Forbidden(_))), "nobody suspends their like");
    let by_member = here.service.suspend(&session.actor, member_id, until.plus(TTL), "spam").await;
    assert!(matches!(by_member, Err(MemberError::Forbidden(_))));
}

#[tokio::test]
async fn a_board_is_given_to_a_moderator_and_taken_back() {
    let process = process(&Arc::default(), 1);
    let (_, admin) = signed_in(&process, "admin", Role::Admin).await;
    let (anna, session) = signed_in(&process, "anna", Role::Member).await;
    let board = BoardId::from_raw(9);
    let moderates = || process.service.authenticate(&anna.token).unwrap().actor.moderates;
    process.service.appoint(&admin.actor, board, session.actor.member_id).await.unwrap();
    assert_eq!(moderates(), [board]);
    process.service.dismiss(&admin.actor, board, session.actor.member_id).await.unwrap();
    assert!(moderates().is_empty());
    let own = process.service.appoint(&session.actor, board, session.actor.member_id).await;
    assert!(matches!(own, Err(MemberError::Forbidden(_))));
}

#[tokio::test]
async fn a_signed_out_token_stays_signed_out_after_the_clock_was_ahead() {
    let process = process(&Arc::default(), 1);
    let (ended, session) = signed_in(&process, "ann", Role::Member).await;
    process.service.sign_out(&session).await.unwrap();
    let right = process.clock.now();
    // Long past the end of the token: to a clock that is right, nobody would ever ask about it again.
    process.clock.advance(40 * Duration::from_secs(24 * 60 * 60));
    process.service.sessions().refresh().await.unwrap();
    process.clock.set(right);
    process.service.sessions().refresh().await.unwrap();
    assert!(process.service.authenticate(&ended.token).is_err());
}

#[tokio::test]
async fn a_session_is_listed_with_when_it_was_used_last() {
    let process = process(&Arc::default(), 1);
    let (anna, session) = signed_in(&process, "anna", Role::Member).await;
    process.service.keep_up().await.unwrap();
    process.clock.advance(TTL / 2);
    process.service.refresh_revocations().await.unwrap();
    process.service.authenticate(&anna.token).unwrap();
    process.service.keep_up().await.unwrap();
    let listed = process.service.own_sessions(&session).await.unwrap();
    assert_eq!((listed.len(), listed[0].is_current), (1, true));
    assert_eq!((listed[0].created_at, listed[0].last_seen_at), (session.created_at, process.clock.now()));
    process.clock.advance(TTL);
    assert_eq!(process.service.own_sessions(&session).await.unwrap().len(), 1, "what has expired is listed no more");
}

#[tokio::test]
async fn who_runs_the_site_is_shown_in_every_process() {
    let store = Arc::default();
    let (here, there) = (process(&store, 1), process(&store, 2));
    let (root, admin) = signed_in(&here, "root", Role::Admin).await;
    let (anna, _) = signed_in(&here, "anna", Role::Member).await;
    let shown = |process: &Process, who: &SignedIn| process.service.shown_role(who.member.member_id);
    assert_eq!((shown(&here, &root), shown(&here, &anna)), (Role::Admin, Role::Member));
    assert_eq!(shown(&there, &root), Role::Member, "not read yet");
    there.service.keep_up().await.unwrap();
    assert_eq!(shown(&there, &root), Role::Admin);
    here.service.set_role(&admin.actor, anna.member.member_id, Role::Moderator).await.unwrap();
    assert_eq!(shown(&here, &anna), Role::Moderator);
    there.service.refresh_revocations().await.unwrap();
    assert_eq!(shown(&there, &anna), Role::Moderator);
    here.service.set_role(&admin.actor, anna.member.member_id, Role::Member).await.unwrap();
    assert_eq!(shown(&here, &anna), Role::Member);
}

#[tokio::test]
async fn ending_the_other_sessions_ends_all_but_the_one_that_asks() {
    let process = process(&Arc::default(), 1);
    let (first, session) = signed_in(&process, "anna", Role::Member).await;
    let second = process.service.sign_in("anna", PASSWORD, Client::default()).await.unwrap();
    process.service.end_other_sessions(&session).await.unwrap();
    assert!(process.service.authenticate(&first.token).is_ok() && process.service.authenticate(&second.token).is_err());
    let third = process.service.sign_in("anna", PASSWORD, Client::default()).await.unwrap();
    let session = process.service.authenticate(&third.token).unwrap();
    assert_eq!(process.service.own_sessions(&session).await.unwrap().len(), 2);
    process.service.end_other_sessions(&session).await.unwrap();
    assert!(process.service.authenticate(&first.token).is_err(), "also one that was kept before");
    assert!(process.service.is_own_password(&session, PASSWORD).await.unwrap());
    assert!(!process.service.is_own_password(&session, "wrong").await.unwrap());
}
