//! How a member stands, beyond what their tokens say, and the rules of changing it. Pure: a store reads the record, asks
//! here, and writes what comes back.

use std::fmt;

use madang_board::rules::{About, Action, Refused, may};
use madang_board::{Actor, BoardId, Role, SessionId};
use madang_kernel::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{ChangeMember, Member, PasswordReset, ResetDigest};

/// Boards that one member may moderate; who has more to look after is a moderator of the site.
pub const MODERATES_MAX: usize = 64;

/// What tokens do not know of a member. The whole of it travels with every change, so only the newest matters.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Standing {
    /// Grows by one with each change: the newer one wins.
    pub version: u32,
    /// Until when they may only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended_until: Option<Timestamp>,
    /// Why, as whoever suspended them said; they are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended_for: Option<String>,
    /// The boards they moderate, by id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub moderates: Vec<BoardId>,
    /// How often their password changed, or they ended their other sessions: those from before have ended.
    pub passwords: u32,
    /// But for the one in which it was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_session: Option<SessionId>,
}

/// A suspension that is in force, as its member is told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspension {
    /// Until when they may only read.
    pub until: Timestamp,
    /// Why; empty where it is not known, since suspensions of earlier versions did not say.
    pub reason: String,
}

impl Standing {
    /// The suspension that is in force at `now`.
    pub fn suspension(&self, now: Timestamp) -> Option<Suspension> {
        let until = self.suspended_until.filter(|until| *until > now)?;
        Some(Suspension { until, reason: self.suspended_for.clone().unwrap_or_default() })
    }

    /// Whether they may only read at `now`.
    pub fn is_suspended(&self, now: Timestamp) -> bool {
        self.suspended_until.is_some_and(|until| until > now)
    }
}

/// A member as the store keeps them.
#[derive(Clone, PartialEq, Eq)]
pub struct MemberRecord {
    /// The member.
    pub member: Member,
    /// Their password, hashed.
    pub password_hash: String,
    /// How they stand.
    pub standing: Standing,
}

/// Without the hash: what is logged must not help anybody to guess a password.
impl fmt::Debug for MemberRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("MemberRecord");
        shown.field("member", &self.member).field("standing", &self.standing).finish_non_exhaustive()
    }
}

/// One change of a member.
#[derive(Clone)]
pub enum Change {
    /// Another role.
    Role(Role),
    /// They may only read until then; `by` is the role of who says so.
    Suspend {
        /// Until when.
        until: Timestamp,
        /// The role of who suspends.
        by: Role,
    },
    /// They may write again; `by` is the role of who says so.
    LiftSuspension {
        /// The role of who lifts it.
        by: Role,
    },
    /// Another password; the other sessions end.
    Password {
        /// The new one, hashed.
        hash: String,
        /// The session in which it was changed, which goes on.
        keep: SessionId,
        /// How often it had changed when the present one was checked: of two changes at once only one knew it.
        after: u32,
    },
    /// They are given a link by which they choose a new password.
    IssueReset(PasswordReset, Proof),
    /// Another password, chosen by such a link; all sessions end.
    UseReset {
        /// Of the token that was shown.
        digest: ResetDigest,
        /// The new one, hashed.
        hash: String,
    },
    /// Their other sessions end.
    EndOtherSessions {
        /// The session that goes on.
        keep: SessionId,
    },
    /// They moderate a board.
    Appoint(BoardId),
    /// They no longer moderate a board.
    Dismiss(BoardId),
}

/// How whoever asks for a link has shown who they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// By their session.
    Session,
    /// By their own password, just now.
    Password,
}

impl Change {
    /// Whether it takes the right to give out links from somebody of this role. Links that are out are void then: some may
    /// be theirs.
    pub fn voids_links(&self, of: Role) -> bool {
        matches!(self, Self::Role(role) if of == Role::Admin && *role < Role::Admin)
    }

    /// What it is to do this to a member of this role; nothing that anybody is asked about, if it is their own password or session.
    fn action(&self, to: Role) -> Option<Action> {
        match self {
            Self::Role(_) => Some(Action::GiveRole),
            Self::Appoint(_) | Self::Dismiss(_) => Some(Action::AppointModerator),
            Self::Suspend { .. } | Self::LiftSuspension { .. } => Some(Action::Suspend(to)),
            Self::IssueReset(..) => Some(Action::ResetPassword),
            Self::Password { .. } | Self::UseReset { .. } | Self::EndOtherSessions { .. } => None,
        }
    }
}

/// Without the hash.
impl fmt::Debug for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Role(role) => write!(f, "Role({role:?})"),
            Self::Suspend { until, .. } => write!(f, "Suspend(until {until})"),
            Self::LiftSuspension { .. } => f.write_str("LiftSuspension"),
            Self::Password { .. } => f.write_str("Password"),
            Self::IssueReset(..) => f.write_str("IssueReset"),
            Self::UseReset { .. } => f.write_str("UseReset"),
            Self::EndOtherSessions { .. } => f.write_str("EndOtherSessions"),
            Self::Appoint(board) => write!(f, "Appoint({board})"),
            Self::Dismiss(board) => write!(f, "Dismiss({board})"),
        }
    }
}

/// Why a member was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeRefused {
    /// The site would be left without an administrator.
    LastAdmin,
    /// Who is suspended is given no role above a member's.
    Suspended,
    /// Nobody suspends their like, nor anybody above.
    NotBelow,
    /// They moderate as many boards as one member may.
    TooManyBoards,
    /// Whoever wants it may not, as they stand at this moment.
    NotAllowed(Refused),
    /// The password that was checked is not the present one any more.
    PasswordChanged,
    /// The link to a new password is not good, or no longer.
    NoSuchReset,
    /// A link for an administrator is given out for a password alone: a session may be somebody else's by now.
    PasswordNeeded,
}

impl ChangeMember {
    /// The member after this change, by what the transaction that makes it finds: the member, whether the site has an
    /// administrator besides them, whoever wants the change as they are now, and the member's link to a new password.
    pub fn decide(
        &self,
        found: MemberRecord,
        has_other_admin: bool,
        actor: Option<&MemberRecord>,
        reset: Option<&PasswordReset>,
    ) -> Result<MemberRecord, ChangeRefused> {
        if let Change::UseReset { digest, .. } = &self.change
            && !reset.is_some_and(|reset| reset.digest == *digest && reset.expires_at > self.changed_at)
        {
            return Err(ChangeRefused::NoSuchReset);
        }
        if let (Some(act), Some(action)) = (&self.act, self.change.action(found.member.role)) {
            let role = actor.map_or(Role::Member, |actor| actor.member.role);
            let suspension = actor.and_then(|actor| actor.standing.suspension(self.changed_at));
            let suspended_until = suspension.map(|suspension| suspension.until);
            let now = Actor { suspended_until, ..Actor::new(act.moderator_id, act.moderator_name.as_str(), role) };
            may(&now, action, About::NOTHING).map_err(ChangeRefused::NotAllowed)?;
        }
        if let (Change::IssueReset(_, Proof::Session), Some(_), Role::Admin) =
            (&self.change, &self.act, found.member.role)
        {
            return Err(ChangeRefused::PasswordNeeded);
        }
        let mut changed = found.changed(&self.change, self.changed_at, has_other_admin)?;
        if let (Change::Suspend { .. }, Some(act)) = (&self.change, &self.act) {
            // Without controls, which would take six characters each where the standing is stored.
            let reason: String = act.reason.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
            changed.standing.suspended_for = Some(reason).filter(|reason| !reason.is_empty());
        }
        Ok(changed)
    }
}

impl MemberRecord {
    /// The member after a change at `now`; `has_other_admin` is whether the site has an administrator besides them.
    pub fn changed(mut self, change: &Change, now: Timestamp, has_other_admin: bool) -> Result<Self, ChangeRefused> {
        let standing = &mut self.standing;
        match change {
            Change::Role(role) => {
                if self.member.role == Role::Admin && *role < Role::Admin && !has_other_admin {
                    return Err(ChangeRefused::LastAdmin);
                }
                if *role > Role::Member && *role > self.member.role && standing.is_suspended(now) {
                    return Err(ChangeRefused::Suspended);
                }
                self.member.role = *role;
            }
            Change::Suspend { by, .. } | Change::LiftSuspension { by } if *by <= self.member.role => {
                return Err(ChangeRefused::NotBelow);
            }
            Change::Suspend { until, .. } => (standing.suspended_until, standing.suspended_for) = (Some(*until), None),
            Change::LiftSuspension { .. } => (standing.suspended_until, standing.suspended_for) = (None, None),
            Change::Password { after, .. } if *after != standing.passwords => {
                return Err(ChangeRefused::PasswordChanged);
            }
            Change::Password { hash, keep, .. } => {
                self.password_hash.clone_from(hash);
                standing.passwords = standing.passwords.saturating_add(1);
                standing.kept_session = Some(*keep);
            }
            Change::IssueReset(..) => {}
            Change::UseReset { hash, .. } => {
                self.password_hash.clone_from(hash);
                standing.passwords = standing.passwords.saturating_add(1);
                standing.kept_session = None;
            }
            Change::EndOtherSessions { keep } => {
                standing.passwords = standing.passwords.saturating_add(1);
                standing.kept_session = Some(*keep);
            }
            Change::Appoint(board) => {
                if let Err(place) = standing.moderates.binary_search(board) {
                    if standing.moderates.len() >= MODERATES_MAX {
                        return Err(ChangeRefused::TooManyBoards);
                    }
                    standing.moderates.insert(place, *board);
                }
            }
            Change::Dismiss(board) => standing.moderates.retain(|moderated| moderated != board),
        }
        standing.version = standing.version.saturating_add(1);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use madang_board::{Act, ActId, ActKind, MemberId};
    use madang_kernel::Id;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000);

    fn record(role: Role) -> MemberRecord {
        let member = Member { member_id: MemberId::from_raw(1), name: "anna".into(), role, created_at: NOW };
        MemberRecord { member, password_hash: "hash".into(), standing: Standing::default() }
    }

    fn changed(role: Role, change: &Change, has_other_admin: bool) -> Result<MemberRecord, ChangeRefused> {
        record(role).changed(change, NOW, has_other_admin)
    }

    #[test]
    fn a_link_for_an_administrator_needs_a_password_and_demoting_one_voids_links() {
        let by = Actor::new(MemberId::from_raw(2), "ben", Role::Admin);
        let act = Act::of(&by, ActId::from_raw(1), ActKind::PasswordResetIssued, 1, NOW);
        let decide = |to: Role, proof: Proof, act: Option<Act>| {
            let change = Change::IssueReset(reset(NOW), proof);
            let change = ChangeMember { member_id: MemberId::from_raw(1), change, changed_at: NOW, act };
            change.decide(record(to), true, Some(&record(Role::Admin)), None).err()
        };
        assert_eq!(decide(Role::Admin, Proof::Session, Some(act.clone())), Some(ChangeRefused::PasswordNeeded));
        assert_eq!(decide(Role::Admin, Proof::Password, Some(act.clone())), None);
        assert_eq!(decide(Role::Moderator, Proof::Session, Some(act)), None);
        assert_eq!(decide(Role::Admin, Proof::Session, None), None, "whoever runs the site");
        assert!(Change::Role(Role::Moderator).voids_links(Role::Admin));
        assert!(!Change::Role(Role::Admin).voids_links(Role::Admin));
        assert!(!Change::Role(Role::Member).voids_links(Role::Moderator));
    }

    #[test]
    fn the_last_administrator_stays_one() {
        for role in [Role::Member, Role::Moderator] {
            let change = Change::Role(role);
            assert_eq!(changed(Role::Admin, &change, false).unwrap_err(), ChangeRefused::LastAdmin);
            assert_eq!(changed(Role::Admin, &change, true).unwrap().member.role, role);
        }
        assert!(changed(Role::Admin, &Change::Role(Role::Admin), false).is_ok());
        assert!(changed(Role::Moderator, &Change::Role(Role::Member), false).is_ok());
    }

    #[test]
    fn nobody_suspends_their_like() {
        let until = Timestamp::from_millis(2_000);
        for (role, by, expected) in [
            (Role::Member, Role::Moderator, true),
            (Role::Member, Role::Admin, true),
            (Role::Moderator, Role::Moderator, false),
            (Role::Moderator, Role::Admin, true),
            (Role::Admin, Role::Admin, false),
        ] {
            assert_eq!(changed(role, &Change::Suspend { until, by }, true).is_ok(), expected, "{role:?} by {by:?}");
            assert_eq!(changed(role, &Change::LiftSuspension { by }, true).is_ok(), expected, "{role:?} by {by:?}");
        }
    }

    #[test]
    fn a_suspension_ends_by_itself_and_keeps_from_higher_roles_meanwhile() {
        let until = Timestamp::from_millis(2_000);
        let suspended = changed(Role::Member, &Change::Suspend { until, by: Role::Admin }, true).unwrap();
        assert!(
            suspended.standing.is_suspended(Timestamp::from_millis(1_999)) && !suspended.standing.is_suspended(until)
        );
        let promote = Change::Role(Role::Admin);
        assert_eq!(suspended.clone().changed(&promote, NOW, true).unwrap_err(), ChangeRefused::Suspended);
        assert!(suspended.changed(&promote, until, true).is_ok());
    }

    #[test]
    fn a_suspension_keeps_its_reason_and_the_largest_standing_fits_its_column() {
        let moderator = Actor::new(MemberId::from_raw(2), "ben", Role::Moderator);
        let mut act = Act::of(&moderator, ActId::from_raw(1), ActKind::MemberSuspended, 1, NOW);
        act.reason = format!("\u{1}{}", "😀".repeat(madang_board::REASON_MAX_CHARS - 1));
        let until = Timestamp::from_millis(i64::MAX);
        let mut found = record(Role::Member);
        found.standing.moderates = (0..MODERATES_MAX as i64).map(|board| BoardId::from_raw(i64::MAX - board)).collect();
        found.standing.kept_session = Some(SessionId::from_raw(i64::MAX));
        let suspend = Change::Suspend { until, by: Role::Moderator };
        let member_id = MemberId::from_raw(1);
        let mut by = record(Role::Moderator);
        by.member.member_id = moderator.member_id;
        let change = ChangeMember { member_id, change: suspend, changed_at: NOW, act: Some(act) };
        let suspended = change.decide(found, true, Some(&by), None).unwrap();
        assert_eq!(suspended.standing.suspension(NOW).unwrap().until, until);
        assert!(suspended.standing.suspension(NOW).unwrap().reason.starts_with(" 😀"));
        assert_eq!(suspended.standing.suspension(until), None);
        let json = serde_json::to_string(&suspended.standing).unwrap();
        assert!(json.len() <= 4_096, "{} bytes", json.len());
        let lifted = suspended.changed(&Change::LiftSuspension { by: Role::Moderator }, NOW, true).unwrap();
        assert_eq!((lifted.standing.suspended_until, lifted.standing.suspended_for), (None, None));
    }

    #[test]
    fn boards_are_kept_once_in_order_and_bounded() {
        let mut anna = record(Role::Member);
        for board in [3, 1, 2, 3] {
            anna = anna.changed(&Change::Appoint(BoardId::from_raw(board)), NOW, true).unwrap();
        }
        assert_eq!(anna.standing.moderates, [1, 2, 3].map(BoardId::from_raw));
        anna = anna.changed(&Change::Dismiss(BoardId::from_raw(2)), NOW, true).unwrap();
        assert_eq!((anna.standing.moderates.len(), anna.standing.version), (2, 5));
        for board in 10..10 + MODERATES_MAX as i64 - 2 {
            anna = anna.changed(&Change::Appoint(BoardId::from_raw(board)), NOW, true).unwrap();
        }
        let one_more = Change::Appoint(BoardId::from_raw(9_999));
        assert_eq!(anna.changed(&one_more, NOW, true).unwrap_err(), ChangeRefused::TooManyBoards);
    }

    #[test]
    fn of_two_changes_of_one_password_the_first_holds() {
        let change = |hash: &str| Change::Password { hash: hash.into(), keep: SessionId::from_raw(1), after: 0 };
        let first = changed(Role::Member, &change("first"), true).unwrap();
        assert_eq!(first.changed(&change("second"), NOW, true).unwrap_err(), ChangeRefused::PasswordChanged);
    }

    fn reset(expires_at: Timestamp) -> PasswordReset {
        PasswordReset { member_id: MemberId::from_raw(1), digest: [7; 32], expires_at }
    }

    #[test]
    fn a_link_is_good_until_its_moment_and_ends_every_session() {
        let mut anna = record(Role::Member);
        anna.standing.kept_session = Some(SessionId::from_raw(9));
        let used = |digest: u8, reset: Option<&PasswordReset>| {
            let change = Change::UseReset { digest: [digest; 32], hash: "new".into() };
            let change = ChangeMember { member_id: MemberId::from_raw(1), change, changed_at: NOW, act: None };
            change.decide(anna.clone(), true, None, reset)
        };
        let (good, old) = (reset(Timestamp::from_millis(1_001)), reset(NOW));
        for (digest, reset) in [(7, None), (7, Some(&old)), (8, Some(&good))] {
            assert_eq!(used(digest, reset).unwrap_err(), ChangeRefused::NoSuchReset);
        }
        let changed = used(7, Some(&good)).unwrap();
        assert_eq!((changed.password_hash.as_str(), changed.standing.passwords), ("new", 1));
        assert_eq!(changed.standing.kept_session, None);
    }

    #[test]
    fn whoever_lost_the_role_meanwhile_changes_nothing() {
        let moderator = Actor::new(MemberId::from_raw(2), "ben", Role::Admin);
        let act = Act::of(&moderator, ActId::from_raw(1), ActKind::RoleGiven, 1, NOW);
        let (member_id, until) = (MemberId::from_raw(1), Timestamp::from_millis(2_000));
        let decide = |change: Change, actor: &MemberRecord| {
            let change = ChangeMember { member_id, change, changed_at: NOW, act: Some(act.clone()) };
            change.decide(record(Role::Member), true, Some(actor), None).err()
        };
        let suspended = changed(Role::Admin, &Change::Role(Role::Admin), true).map(|mut admin| {
            admin.standing.suspended_until = Some(until);
            admin
        });
        for (change, needs) in [
            (Change::Role(Role::Moderator), Role::Admin),
            (Change::Appoint(BoardId::from_raw(1)), Role::Admin),
            (Change::IssueReset(reset(NOW), Proof::Password), Role::Admin),
            (Change::Suspend { until, by: Role::Moderator }, Role::Moderator),
        ] {
            for role in [Role::Member, Role::Moderator, Role::Admin] {
                let refused = matches!(decide(change.clone(), &record(role)), Some(ChangeRefused::NotAllowed(_)));
                assert_eq!(refused, role < needs, "{change:?} by {role:?}");
            }
            assert!(matches!(decide(change, suspended.as_ref().unwrap()), Some(ChangeRefused::NotAllowed(_))));
        }
    }

    #[test]
    fn no_debug_text_holds_a_hash() {
        let change = Change::Password { hash: "secret".into(), keep: SessionId::from_raw(1), after: 0 };
        let changed = changed(Role::Member, &change, true).unwrap();
        assert!(!format!("{change:?} {changed:?}").contains("secret"));
        assert_eq!((changed.standing.passwords, changed.password_hash.as_str()), (1, "secret"));
    }
}
