//! What moderators do and what members report, as values. An act commits with the change it tells of, in whichever store
//! makes it; nothing changes or removes one.

use serde::{Deserialize, Serialize};

use crate::text::{is_blank, longer_than};
use madang_kernel::{Id as _, Invalid, Timestamp, millis};

use crate::{ActId, Actor, ArticleId, BoardId, CommentId, MemberId, ReportId};

/// The longest reason, in Unicode scalar values.
pub const REASON_MAX_CHARS: usize = 500;

/// Why somebody did something, in their words; may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reason(String);

impl Reason {
    /// Trims and checks a reason that need not be given.
    pub fn optional(text: Option<&str>) -> Result<Self, Invalid> {
        let text = text.unwrap_or_default();
        if longer_than(text, REASON_MAX_CHARS) {
            return Err(Invalid::field("reason", format!("must have at most {REASON_MAX_CHARS} characters")));
        }
        if text.contains('\0') {
            return Err(Invalid::field("reason", "must not contain NUL characters"));
        }
        Ok(Self(text.trim().to_owned()))
    }

    /// The same for one that must be given.
    pub fn required(text: &str) -> Result<Self, Invalid> {
        if is_blank(text) {
            return Err(Invalid::field("reason", "must not be blank"));
        }
        Self::optional(Some(text))
    }

    /// The reason as text.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// What a moderator did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActKind {
    /// Changed an article that somebody else wrote.
    ArticleEdited,
    /// Deleted an article that somebody else wrote.
    ArticleDeleted,
    /// Took such a deletion back.
    ArticleRestored,
    /// Pinned an article on its board.
    ArticlePinned,
    /// Took the pin away.
    ArticleUnpinned,
    /// Closed an article to new comments.
    ArticleLocked,
    /// Opened it again.
    ArticleUnlocked,
    /// Changed a comment that somebody else wrote.
    CommentEdited,
    /// Deleted a comment that somebody else wrote.
    CommentDeleted,
    /// Took such a deletion back.
    CommentRestored,
    /// Suspended a member.
    MemberSuspended,
    /// Lifted a suspension.
    SuspensionLifted,
    /// Gave a member a role.
    RoleGiven,
    /// Gave a member a link by which they choose a new password.
    PasswordResetIssued,
    /// Made a member moderator of a board.
    ModeratorAppointed,
    /// Took that from them.
    ModeratorDismissed,
    /// Settled a report.
    ReportResolved,
}

names!(ActKind {
    ArticleEdited = "article_edited",
    ArticleDeleted = "article_deleted",
    ArticleRestored = "article_restored",
    ArticlePinned = "article_pinned",
    ArticleUnpinned = "article_unpinned",
    ArticleLocked = "article_locked",
    ArticleUnlocked = "article_unlocked",
    CommentEdited = "comment_edited",
    CommentDeleted = "comment_deleted",
    CommentRestored = "comment_restored",
    MemberSuspended = "member_suspended",
    SuspensionLifted = "suspension_lifted",
    RoleGiven = "role_given",
    PasswordResetIssued = "password_reset_issued",
    ModeratorAppointed = "moderator_appointed",
    ModeratorDismissed = "moderator_dismissed",
    ReportResolved = "report_resolved",
});

/// One act of a moderator, as the log keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    /// Names the act; later acts have greater ids.
    pub act_id: ActId,
    /// What was done.
    pub kind: ActKind,
    /// Who did it.
    pub moderator_id: MemberId,
    /// The name they had.
    pub moderator_name: String,
    /// The article, comment, member or report it was done to, as its id's number.
    pub subject: i64,
    /// The board it concerns, where there is one.
    pub board_id: Option<BoardId>,
    /// What was decided, where the kind leaves it open: the role, or until when.
    pub detail: String,
    /// Why, in the moderator's words; may be empty.
    pub reason: String,
    /// When.
    #[serde(rename = "acted_at_ms", with = "millis")]
    pub acted_at: Timestamp,
}

impl Act {
    /// An act of `actor` without board, detail and reason.
    pub fn of(actor: &Actor, act_id: ActId, kind: ActKind, subject: i64, acted_at: Timestamp) -> Self {
        Self {
            act_id,
            kind,
            moderator_id: actor.member_id,
            moderator_name: actor.name.clone(),
            subject,
            board_id: None,
            detail: String::new(),
            reason: String::new(),
            acted_at,
        }
    }
}

/// What a report is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reported {
    /// An article.
    Article(ArticleId),
    /// A comment.
    Comment(CommentId),
}

impl Reported {
    /// The kind as it is written in a column, and the id's number.
    pub fn columns(self) -> (&'static str, i64) {
        match self {
            Self::Article(article) => ("article", article.raw()),
            Self::Comment(comment) => ("comment", comment.raw()),
        }
    }

    /// What these columns name, if it is of a kind that is known.
    pub fn of_columns(kind: &str, subject: i64) -> Option<Self> {
        match kind {
            "article" => Some(Self::Article(ArticleId::from_raw(subject))),
            "comment" => Some(Self::Comment(CommentId::from_raw(subject))),
            _ => None,
        }
    }
}

/// A member's report of an article or a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Names the report; later ones have greater ids.
    pub report_id: ReportId,
    /// What is reported.
    pub reported: Reported,
    /// The article itself, or the one that the comment belongs to.
    pub article_id: ArticleId,
    /// Its board.
    pub board_id: BoardId,
    /// Who reports it.
    pub reporter_id: MemberId,
    /// The name they had.
    pub reporter_name: String,
    /// Why.
    pub reason: String,
    /// When.
    pub reported_at: Timestamp,
    /// How it was settled; `None` while it is open.
    pub resolution: Option<Resolution>,
}

/// How a report was settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolution {
    /// By whom.
    pub moderator_id: MemberId,
    /// What they say about it; may be empty.
    pub note: String,
    /// When.
    pub resolved_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_read_back_from_its_name() {
        for kind in ActKind::ALL {
            assert_eq!(ActKind::named(kind.name()), Some(*kind));
        }
        assert_eq!(ActKind::named("nothing"), None);
    }

    #[test]
    fn reasons_are_bounded_and_trimmed() {
        assert_eq!(Reason::optional(None).unwrap().into_string(), "");
        assert_eq!(Reason::required(" spam\n").unwrap().into_string(), "spam");
        assert!(Reason::optional(Some(&"😀".repeat(500))).is_ok());
        assert!(Reason::optional(Some(&"😀".repeat(501))).is_err());
        assert!(Reason::optional(Some("a\0b")).is_err());
        assert!(Reason::required(" \u{200b}").is_err());
    }
}
