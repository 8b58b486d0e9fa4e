//! What signed tokens do not know: sessions that ended, and how members stand since. Kept in memory and read on every
//! request; filled from the store by polling, and at once by the process that makes the change.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use madang_board::{Actor, BoardId, MemberId, Role, SessionId};
use madang_kernel::Timestamp;

use crate::token::Claims;
use crate::{Revocation, Standing, Suspension};

/// How long an ended session is remembered after its token has expired. A token that expired by a clock that was ahead is
/// valid again once the clock is right, and must still be refused then.
const REMEMBERED_MS: i64 = 60 * 24 * 60 * 60 * 1_000;

/// Of ended sessions, those whose tokens expired before this may be forgotten at `now`.
pub fn forgettable_at(now: Timestamp) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_sub(REMEMBERED_MS))
}

/// The revocations that this process knows of.
#[derive(Default)]
pub(crate) struct Revocations(RwLock<Revoked>);

#[derive(Default)]
struct Revoked {
    /// With the moment when the token expires by itself.
    ended: HashMap<SessionId, Timestamp>,
    members: HashMap<MemberId, (Role, Standing)>,
}

impl Revoked {
    fn has_ended(&self, member: MemberId, session: SessionId, passwords: u32) -> bool {
        let is_of_earlier_password = || {
            let standing = self.members.get(&member).map(|(_, standing)| standing);
            standing.is_some_and(|now| passwords < now.passwords && now.kept_session != Some(session))
        };
        self.ended.contains_key(&session) || is_of_earlier_password()
    }
}

impl Revocations {
    /// Who a token speaks for at `now`, or `None` if its session has ended.
    pub(crate) fn actor(&self, claims: Claims, now: Timestamp) -> Option<Actor> {
        let revoked = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if revoked.has_ended(claims.member_id, claims.session_id, claims.passwords) {
            return None;
        }
        let mut actor = Actor::new(claims.member_id, claims.name, claims.role);
        if let Some((role, standing)) = revoked.members.get(&claims.member_id) {
            actor.role = *role;
            actor.suspended_until = standing.suspended_until.filter(|until| *until > now);
            actor.moderates.clone_from(&standing.moderates);
        }
        Some(actor)
    }

    /// The suspension of a member that is in force at `now`.
    pub(crate) fn suspension(&self, member: MemberId, now: Timestamp) -> Option<Suspension> {
        let revoked = self.0.read().unwrap_or_else(PoisonError::into_inner);
        revoked.members.get(&member).and_then(|(_, standing)| standing.suspension(now))
    }

    /// Whether a session has ended, that began when the member's password had changed so often.
    pub(crate) fn has_ended(&self, member: MemberId, session: SessionId, passwords: u32) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).has_ended(member, session, passwords)
    }

    /// Who moderates this board, by id.
    pub(crate) fn moderators(&self, board: BoardId) -> Vec<MemberId> {
        let revoked = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let moderates = |standing: &Standing| standing.moderates.binary_search(&board).is_ok();
        let found = revoked.members.iter().filter(|(_, (_, standing))| moderates(standing));
        let mut found: Vec<MemberId> = found.map(|(member, _)| *member).collect();
        found.sort_unstable();
        found
    }

    /// The role of a member who was changed.
    pub(crate) fn role(&self, member: MemberId) -> Option<Role> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).members.get(&member).map(|(role, _)| *role)
    }

    /// Takes revocations over. Of one member the newest counts, in whatever order they come.
    pub(crate) fn apply(&self, revocations: impl IntoIterator<Item = Revocation>) {
        let mut revoked = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for revocation in revocations {
            match revocation {
                Revocation::SessionEnded { session_id, expires_at } => {
                    revoked.ended.insert(session_id, expires_at);
                }
                Revocation::MemberChanged { member_id, role, standing } => {
                    let held = revoked.members.get(&member_id).map_or(0, |(_, held)| held.version);
                    if standing.version > held {
                        revoked.members.insert(member_id, (role, standing));
                    }
                }
            }
        }
    }

    /// Forgets sessions whose tokens expired long before `now`: see [`forgettable_at`].
    pub(crate) fn forget_expired(&self, now: Timestamp) {
        let forgettable = forgettable_at(now);
        let mut revoked = self.0.write().unwrap_or_else(PoisonError::into_inner);
        revoked.ended.retain(|_, expires_at| *expires_at > forgettable);
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(50);

    fn claims(session: i64, passwords: u32) -> Claims {
        Claims {
            member_id: MemberId::from_raw(1),
            session_id: SessionId::from_raw(session),
            issued_at: NOW,
            expires_at: NOW,
            role: Role::Member,
            passwords,
            name: "anna".into(),
        }
    }

    fn changed(role: Role, standing: Standing) -> Revocation {
        Revocation::MemberChanged { member_id: MemberId::from_raw(1), role, standing }
    }

    #[test]
    fn the_newest_standing_is_in_force_and_ended_sessions_have_none() {
        let revocations = Revocations::default();
        let actor = |session| revocations.actor(claims(session, 0), NOW);
        assert_eq!(actor(2).unwrap(), Actor::new(MemberId::from_raw(1), "anna", Role::Member));
        let standing = |version| Standing { version, ..Standing::default() };
        let boards = vec![BoardId::from_raw(9)];
        let suspended_until = Some(Timestamp::from_millis(51));
        let newest = Standing { suspended_until, moderates: boards.clone(), ..standing(3) };
        let expires_at = Timestamp::from_millis(100);
        revocations.apply([
            changed(Role::Admin, standing(1)),
            changed(Role::Moderator, newest),
            changed(Role::Member, standing(2)),
            Revocation::SessionEnded { session_id: SessionId::from_raw(2), expires_at },
        ]);
        assert_eq!(actor(2), None);
        let found = actor(3).unwrap();
        assert_eq!((found.role, found.suspended_until, found.moderates), (Role::Moderator, suspended_until, boards));
        assert_eq!(revocations.moderators(BoardId::from_raw(9)), [MemberId::from_raw(1)]);
        assert!(revocations.moderators(BoardId::from_raw(8)).is_empty());
        let later = revocations.actor(claims(3, 0), Timestamp::from_millis(51)).unwrap();
        assert_eq!(later.suspended_until, None, "it has ended");
        revocations.forget_expired(Timestamp::from_millis(99 + REMEMBERED_MS));
        assert_eq!(actor(2), None);
        revocations.forget_expired(Timestamp::from_millis(expires_at.as_millis() + REMEMBERED_MS));
        assert!(revocations.0.read().unwrap().ended.is_empty());
    }

    #[test]
    fn a_new_password_ends_the_sessions_of_the_old_one_but_for_the_one_that_changed_it() {
        let revocations = Revocations::default();
        let kept_session = Some(SessionId::from_raw(2));
        revocations
            .apply([changed(Role::Member, Standing { version: 1, passwords: 1, kept_session, ..Standing::default() })]);
        let is_good = |session, passwords| revocations.actor(claims(session, passwords), NOW).is_some();
        assert!(is_good(2, 0) && !is_good(3, 0) && is_good(3, 1));
    }
}
