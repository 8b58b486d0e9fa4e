//! One word about what was just done, carried over the redirect after a form by a cookie and shown once on the next page: a
//! deletion leaves nothing behind that could say so itself.

use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use madang_server::cookie_value;

use crate::preferences::Lang;
use crate::texts::{ModeratingTexts, Texts};

const COOKIE: &str = "madang_flash";
/// A page that is never loaded must not find an old word later.
const KEPT_S: u32 = 60;

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flash {
    ArticleDeleted,
    ArticleLocked,
    ArticlePinned,
    ArticleRestored,
    ArticleUnlocked,
    ArticleUnpinned,
    BoardDeleted,
    BoardSaved,
    CommentDeleted,
    CommentRestored,
    PasswordReset,
    ReportSettled,
    RoleChanged,
    SetUp,
    SignedOut,
}

impl Flash {
    const ALL: [Self; 15] = [
        Self::ArticleDeleted,
        Self::ArticleLocked,
        Self::ArticlePinned,
        Self::ArticleRestored,
        Self::ArticleUnlocked,
        Self::ArticleUnpinned,
        Self::BoardDeleted,
        Self::BoardSaved,
        Self::CommentDeleted,
        Self::CommentRestored,
        Self::PasswordReset,
        Self::ReportSettled,
        Self::RoleChanged,
        Self::SetUp,
        Self::SignedOut,
    ];

    /// The word that a browser brings.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let code = cookie_value(headers, COOKIE)?;
        Self::ALL.into_iter().find(|flash| flash.code() == code)
    }

    /// Has the browser bring it with the next page.
    pub(crate) fn leave(self, mut response: Response, secure: bool) -> Response {
        append(&mut response, self.code(), KEPT_S, secure);
        response
    }

    /// Has the browser forget it, once it is shown.
    pub(crate) fn take(response: &mut Response, secure: bool) {
        append(response, "", 0, secure);
    }

    /// In words.
    pub(crate) fn text(self, lang: Lang) -> &'static str {
        let (t, moderating) = (Texts::in_language(lang), ModeratingTexts::in_language(lang));
        match self {
            Self::ArticleDeleted => t.article_deleted,
            Self::ArticleLocked => t.article_locked,
            Self::ArticlePinned => t.article_pinned,
            Self::ArticleRestored => moderating.article_restored,
            Self::ArticleUnlocked => t.article_unlocked,
            Self::ArticleUnpinned => t.article_unpinned,
            Self::BoardDeleted => t.board_deleted,
            Self::BoardSaved => t.board_saved,
            Self::CommentDeleted => t.comment_deleted,
            Self::CommentRestored => moderating.comment_restored,
            Self::PasswordReset => t.password_reset_done,
            Self::ReportSettled => t.report_settled,
            Self::RoleChanged => t.role_changed,
            Self::SetUp => t.set_up_done,
            Self::SignedOut => t.signed_out,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::ArticleDeleted => "article-deleted",
            Self::ArticleLocked => "article-locked",
            Self::ArticlePinned => "article-pinned",
            Self::ArticleRestored => "article-restored",
            Self::ArticleUnlocked => "article-unlocked",
            Self::ArticleUnpinned => "article-unpinned",
            Self::BoardDeleted => "board-deleted",
            Self::BoardSaved => "board-saved",
            Self::CommentDeleted => "comment-deleted",
            Self::CommentRestored => "comment-restored",
            Self::PasswordReset => "password-reset",
            Self::ReportSettled => "report-settled",
            Self::RoleChanged => "role-changed",
            Self::SetUp => "set-up",
            Self::SignedOut => "signed-out",
        }
    }
}

fn append(response: &mut Response, code: &str, max_age_s: u32, secure: bool) {
    let secure = if secure { "; Secure" } else { "" };
    let text = format!("{COOKIE}={code}; Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&text) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
}
