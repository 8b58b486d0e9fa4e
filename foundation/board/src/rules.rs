//! Who may do what, in one place. Every use case asks [`may`] before it does anything; nobody else compares roles.

use madang_kernel::Timestamp;

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
    /// Pin an article on its board, or no longer.
    PinArticle,
    /// See what a moderator removed, and restore it.
    Restore,
    /// Close an article to new comments, or open it again.
    LockArticle,
    /// Write a comment.
    WriteComment,
    /// Write a comment on an article that is closed to new ones.
    CommentOnLocked,
    /// Change a comment.
    EditComment,
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
    /// Change what a board is called and where it stands, or archive it.
    EditBoard,
    /// Delete a board without articles.
    DeleteBoard,
    /// Give a member a role.
    GiveRole,
    /// Let a member choose a new password by a link.
    ResetPassword,
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
pub enum Refused {
    /// It takes another role, or is nobody's to do; says which.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// They may only read until then.
    #[error("Your account is suspended until {0}. Until then you can read, but not write.")]
    SuspendedUntil(Timestamp),
}

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
    if let Some(until) = actor.suspended_until {
        return Err(Refused::SuspendedUntil(until));
    }
    let (needs, refusal) = needs(action);
    let allowed = match needs {
        Needs::Member => true,
        Needs::AuthorOrModerator => about.own || moderates(actor, about.board),
        Needs::Moderator => moderates(actor, about.board),
        Needs::Above(role) => actor.role >= Role::Moderator && actor.role > role,
        Needs::Admin => actor.role >= Role::Admin,
    };
    if allowed { Ok(()) } else { Err(Refused::NotAllowed(refusal)) }
}

fn moderates(actor: &Actor, board: Option<BoardId>) -> bool {
    actor.role >= Role::Moderator || board.is_some_and(|board| actor.moderates.contains(&board))
}

/// The table: what each action needs, and what is said to whoever has it not.
fn needs(action: Action) -> (Needs, &'static str) {
    match action {
        Action::WriteArticle | Action::WriteComment | Action::Like | Action::Report => (Needs::Member, ""),
        Action::EditArticle => (Needs::AuthorOrModerator, "Only its author or a moderator can edit an article."),
        Action::DeleteArticle => (Needs::AuthorOrModerator, "Only its author or a moderator can delete an article."),
        Action::PinArticle => (Needs::Moderator, "Only a moderator can pin an article."),
        Action::Restore => (Needs::Moderator, "Only a moderator can restore what a moderator removed."),
        Action::LockArticle => (Needs::Moderator, "Only a moderator can lock an article."),
        Action::CommentOnLocked => (Needs::Moderator, "Only a moderator can comment on a locked article."),
        Action::EditComment => (Needs::AuthorOrModerator, "Only its author or a moderator can edit a comment."),
        Action::DeleteComment => (Needs::AuthorOrModerator, "Only its author or a moderator can delete a comment."),
        Action::ReadReports => (Needs::Moderator, "Only a moderator can read reports."),
        Action::ResolveReport => (Needs::Moderator, "Only a moderator can close a report."),
        Action::ReadLog => (Needs::Moderator, "Only a moderator can read the moderation log."),
        Action::Suspend(role) => (
            Needs::Above(role),
            "Moderators can suspend members, and administrators moderators too. Nobody can suspend an administrator.",
        ),
        Action::CreateBoard => (Needs::Admin, "Only an administrator can create a board."),
        Action::EditBoard => (Needs::Admin, "Only an administrator can change a board."),
        Action::DeleteBoard => (Needs::Admin, "Only an administrator can delete a board."),
        Action::GiveRole => (Needs::Admin, "Only an administrator can change roles."),
        Action::ResetPassword => (Needs::Admin, "Only an administrator can reset a password."),
        Action::AppointModerator => (Needs::Admin, "Only an administrator can appoint or dismiss moderators."),
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
            (Action::PinArticle, MODERATORS, MODERATORS),
            (Action::Restore, MODERATORS, MODERATORS),
            (Action::LockArticle, MODERATORS, MODERATORS),
            (Action::WriteComment, ALL, ALL),
            (Action::CommentOnLocked, MODERATORS, MODERATORS),
            (Action::EditComment, MODERATORS, ALL),
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
            (Action::EditBoard, ADMINS, ADMINS),
            (Action::DeleteBoard, ADMINS, ADMINS),
            (Action::GiveRole, ADMINS, ADMINS),
            (Action::ResetPassword, ADMINS, ADMINS),
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
            let until = Timestamp::from_millis(1_800_000_000_000);
            let suspended = Actor { suspended_until: Some(until), ..actor(role, &[HERE]) };
            for action in [Action::WriteArticle, Action::EditArticle, Action::Like, Action::ReadLog, Action::GiveRole] {
                let refused = may(&suspended, action, About::on(BoardId::from_raw(HERE), true)).unwrap_err();
                assert_eq!(refused, Refused::SuspendedUntil(until), "{action:?}");
                assert!(refused.to_string().contains("until 2027-01-15T08:00:00.000Z."), "{refused}");
            }
        }
    }
}
