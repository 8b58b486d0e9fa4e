//! Who may do what, in one place. Every use case asks [`may`] before it does anything; nobody else compares roles.

use crate::{Actor, BoardId, Role};

/// What somebody is about to do. Reading what everybody may read is not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Write an article.
    WriteArticle,
    /// Change an article.
    EditArticle,
    /// Delete an article.
    DeleteArticle,
    /// Write a comment.
    WriteComment,
    /// Delete a comment.
    DeleteComment,
    /// Like an article, or no longer.
    Like,
    /// Report an article or a comment to the moderators.
    Report,
    /// Read what was reported.
    ReadReports,
    /// Settle a report.
    ResolveReport,
    /// Read what moderators did.
    ReadLog,
    /// Suspend a member of this role, or lift it.
    Suspend(Role),
    /// Create a board.
    CreateBoard,
    /// Give a member a role.
    GiveRole,
    /// Make a member moderator of one board, or no longer.
    AppointModerator,
}

/// What an action is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct About {
    /// Whether the actor wrote it.
    pub own: bool,
    /// The board it belongs to, where there is one.
    pub board: Option<BoardId>,
}

impl About {
    /// Something of nobody and of no board.
    pub const NOTHING: Self = Self { own: false, board: None };

    /// Something on a board.
    pub fn on(board: BoardId, own: bool) -> Self {
        Self { own, board: Some(board) }
    }
}

/// Why somebody may not; said to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub &'static str);

/// Who may do an action, if they are not suspended.
enum Needs {
    /// Any member.
    Member,
    /// Who wrote it, a moderator of its board, or one of the site.
    AuthorOrModerator,
    /// A moderator of its board, or one of the site.
    Moderator,
    /// Somebody above this role, and a moderator at least.
    Above(Role),
    /// An administrator.
    Admin,
}

/// Whether the actor may do this; a suspended one may do nothing that is listed.
pub fn may(actor: &Actor, action: Action, about: About) -> Result<(), Refused> {
    if actor.suspended {
        return Err(Refused("you are suspended: for now you may read and not write"));
    }
    let (needs, refusal) = needs(action);
    let allowed = match needs {
        Needs::Member => true,
        Needs::AuthorOrModerator => about.own || moderates(actor, about.board),
        Needs::Moderator => moderates(actor, about.board),
        Needs::Above(role) => actor.role >= Role::Moderator && actor.role > role,
        Needs::Admin => actor.role >= Role::Admin,
    };
    if allowed { Ok(()) } else { Err(Refused(refusal)) }
}

fn moderates(actor: &Actor, board: Option<BoardId>) -> bool {
    actor.role >= Role::Moderator || board.is_some_and(|board| actor.moderates.contains(&board))
}

/// The table: what each action needs, and what is said to whoever has it not.
fn needs(action: Action) -> (Needs, &'static str) {
    match action {
        Action::WriteArticle | Action::WriteComment | Action::Like | Action::Report => (Needs::Member, ""),
        Action::EditArticle => (Needs::AuthorOrModerator, "only its author or a moderator may edit an article"),
        Action::DeleteArticle => (Needs::AuthorOrModerator, "only its author or a moderator may delete an article"),
        Action::DeleteComment => (Needs::AuthorOrModerator, "only its author or a moderator may delete a comment"),
        Action::ReadReports => (Needs::Moderator, "only a moderator may read reports"),
        Action::ResolveReport => (Needs::Moderator, "only a moderator may settle a report"),
        Action::ReadLog => (Needs::Moderator, "only a moderator may read the log of moderation"),
        Action::Suspend(role) => (
            Needs::Above(role),
            "a moderator may suspend members, an administrator also moderators, nobody administrators",
        ),
        Action::CreateBoard => (Needs::Admin, "only an administrator may create a board"),
        Action::GiveRole => (Needs::Admin, "only an administrator may give roles"),
        Action::AppointModerator => (Needs::Admin, "only an administrator may appoint moderators"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use madang_kernel::Id;

    use crate::MemberId;

    const HERE: i64 = 7;
    const ELSEWHERE: i64 = 8;

    fn actor(role: Role, moderates: &[i64]) -> Actor {
        let moderates = moderates.iter().map(|board| BoardId::from_raw(*board)).collect();
        Actor { moderates, ..Actor::new(MemberId::from_raw(1), "anna", role) }
    }

    /// Whether a member, a moderator of this board, one of another, one of the site and an administrator may do it.
    fn who(action: Action, own: bool) -> [bool; 5] {
        let about = About::on(BoardId::from_raw(HERE), own);
        let (member, site) = (Role::Member, Role::Moderator);
        [
            actor(member, &[]),
            actor(member, &[HERE]),
            actor(member, &[ELSEWHERE]),
            actor(site, &[]),
            actor(Role::Admin, &[]),
        ]
        .map(|actor| may(&actor, action, about).is_ok())
    }

    #[test]
    fn the_table_says_who_may_do_what_to_others_and_to_their_own() {
        const ALL: [bool; 5] = [true; 5];
        const MODERATORS: [bool; 5] = [false, true, false, true, true];
        const SITE: [bool; 5] = [false, false, false, true, true];
        const ADMINS: [bool; 5] = [false, false, false, false, true];
        for (action, others, own) in [
            (Action::WriteArticle, ALL, ALL),
            (Action::EditArticle, MODERATORS, ALL),
            (Action::DeleteArticle, MODERATORS, ALL),
            (Action::WriteComment, ALL, ALL),
            (Action::DeleteComment, MODERATORS, ALL),
            (Action::Like, ALL, ALL),
            (Action::Report, ALL, ALL),
            (Action::ReadReports, MODERATORS, MODERATORS),
            (Action::ResolveReport, MODERATORS, MODERATORS),
            (Action::ReadLog, MODERATORS, MODERATORS),
            (Action::Suspend(Role::Member), SITE, SITE),
            (Action::Suspend(Role::Moderator), ADMINS, ADMINS),
            (Action::Suspend(Role::Admin), [false; 5], [false; 5]),
            (Action::CreateBoard, ADMINS, ADMINS),
            (Action::GiveRole, ADMINS, ADMINS),
            (Action::AppointModerator, ADMINS, ADMINS),
        ] {
            assert_eq!((who(action, false), who(action, true)), (others, own), "{action:?}");
        }
    }

    #[test]
    fn a_board_gives_nothing_on_the_site() {
        let moderator = actor(Role::Member, &[HERE]);
        assert!(may(&moderator, Action::ReadReports, About::NOTHING).is_err());
        assert!(may(&moderator, Action::ReadLog, About::NOTHING).is_err());
    }

    #[test]
    fn who_is_suspended_does_nothing_whatever_their_role() {
        for role in [Role::Member, Role::Moderator, Role::Admin] {
            let suspended = Actor { suspended: true, ..actor(role, &[HERE]) };
            for action in [Action::WriteArticle, Action::EditArticle, Action::Like, Action::ReadLog, Action::GiveRole] {
                assert!(may(&suspended, action, About::on(BoardId::from_raw(HERE), true)).is_err(), "{action:?}");
            }
        }
    }
}
