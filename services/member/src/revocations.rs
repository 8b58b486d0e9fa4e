//! What signed tokens do not know: sessions that ended and roles that changed since. Kept in memory and read on every
//! request; filled from the store by polling, and at once by the process that makes the change.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use madang_kernel::{MemberId, Role, SessionId, Timestamp};

use crate::Revocation;

/// The revocations that this process knows of.
#[derive(Default)]
pub(crate) struct Revocations(RwLock<Known>);

#[derive(Default)]
struct Known {
    /// With the moment when the token expires by itself.
    ended: HashMap<SessionId, Timestamp>,
    roles: HashMap<MemberId, Role>,
}

impl Revocations {
    /// The role in force for a token, or `None` if its session has ended.
    pub(crate) fn role_in_force(&self, session: SessionId, member: MemberId, role_in_token: Role) -> Option<Role> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if known.ended.contains_key(&session) {
            return None;
        }
        Some(known.roles.get(&member).copied().unwrap_or(role_in_token))
    }

    /// Takes revocations over, in the order in which they were committed.
    pub(crate) fn apply(&self, revocations: impl IntoIterator<Item = Revocation>) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for revocation in revocations {
            match revocation {
                Revocation::SessionEnded { session_id, expires_at } => drop(known.ended.insert(session_id, expires_at)),
                Revocation::RoleChanged { member_id, role } => drop(known.roles.insert(member_id, role)),
            }
        }
    }

    /// Forgets sessions whose tokens have expired by `now` anyway.
    pub(crate) fn forget_expired(&self, now: Timestamp) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.ended.retain(|_, expires_at| *expires_at > now);
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    #[test]
    fn the_last_role_is_in_force_and_ended_sessions_have_none() {
        let (member, session, other) = (MemberId::from_raw(1), SessionId::from_raw(2), SessionId::from_raw(3));
        let revocations = Revocations::default();
        let role = |session| revocations.role_in_force(session, member, Role::Member);
        assert_eq!(role(session), Some(Role::Member));
        let changed = |role| Revocation::RoleChanged { member_id: member, role };
        let expires_at = Timestamp::from_millis(100);
        revocations.apply([
            changed(Role::Admin),
            changed(Role::Moderator),
            Revocation::SessionEnded { session_id: session, expires_at },
        ]);
        assert_eq!((role(session), role(other)), (None, Some(Role::Moderator)));
        revocations.forget_expired(Timestamp::from_millis(99));
        assert_eq!(role(session), None);
        revocations.forget_expired(expires_at);
        assert!(revocations.0.read().unwrap().ended.is_empty());
    }
}
