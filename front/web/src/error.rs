//! Every refusal as a page: what happened, in the reader's language, and what to do about it. Internals never leak.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use madang_article::ArticleError;
use madang_board::REASON_MAX_CHARS;
use madang_comment::CommentError;
use madang_kernel::StoreError;
use madang_like::LikeError;
use madang_member::MemberError;
use madang_server::Rejection;
use maud::{Markup, html};

use crate::form::Problems;
use crate::layout::{sign_in_path, sign_up_path, unlisted};
use crate::plain_text::plain;
use crate::posted::FormSessionError;
use crate::state::Web;
use crate::visit::Visit;
use crate::{reply, texts};

/// Why there is no page.
#[derive(Debug)]
pub(crate) enum WebError {
    /// There is nothing under this address.
    NotFound,
    /// The address is a form's, and was opened like a page.
    WrongMethod,
    /// The reader may not do this.
    Forbidden,
    /// The reader may only read for now.
    Suspended,
    /// The board takes no changes.
    Archived,
    /// The article takes no new comments.
    Locked,
    /// Nobody is signed in.
    NotSignedIn,
    /// The form was made for another session.
    OtherSession,
    /// Another site's page sent the form.
    CrossSite,
    /// The form cannot be read.
    NotUnderstood,
    /// The form is larger than anything it could hold.
    TooLarge,
    /// They sent more than a limit allows.
    TooMany {
        /// Which one.
        limit: Limit,
        /// When the next is taken.
        retry_after: Duration,
        /// What a program is told of it, where it is a limit of the server's.
        rejection: Option<Rejection>,
    },
    /// The form did not arrive in time.
    TooSlow,
    /// It took longer than a request may, and nobody can tell whether it takes effect.
    TimedOut,
    /// A part is away, or busy.
    Unavailable,
    /// A defect.
    Internal,
}

/// A limit, as people know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Guesses at passwords.
    Passwords,
    /// New accounts from one network.
    SignUps,
    /// What one member writes.
    Writes,
    /// Anything from one network.
    Requests,
}

/// A refusal that is a page already.
pub(crate) struct Refused(Box<Response>);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl From<Response> for Refused {
    fn from(page: Response) -> Self {
        Self(Box::new(page))
    }
}

/// Makes of whatever stands in the way of a page the page that says so.
pub(crate) trait OrRefuse<T> {
    /// The value, or the refusal to whoever asked.
    fn or_refuse(self, web: &Web, visit: &Visit) -> Result<T, Refused>;
}

impl<T, E: Into<WebError>> OrRefuse<T> for Result<T, E> {
    fn or_refuse(self, web: &Web, visit: &Visit) -> Result<T, Refused> {
        self.map_err(|error| error.into().refuse(web, visit))
    }
}

impl WebError {
    /// Why the reader may not do something.
    pub(crate) fn forbidden(visit: &Visit) -> Self {
        if visit.actor().is_some_and(|actor| actor.suspended_until.is_some()) {
            Self::Suspended
        } else {
            Self::Forbidden
        }
    }

    /// What the server refused before, or beside, a handler.
    pub(crate) fn of_rejection(rejection: &Rejection, limit: Limit) -> Self {
        match rejection {
            Rejection::TooMany { retry_after, .. } => {
                Self::TooMany { limit, retry_after: *retry_after, rejection: Some(rejection.clone()) }
            }
            Rejection::TooSlow => Self::TooSlow,
            Rejection::TimedOut => Self::TimedOut,
            Rejection::Unavailable { .. } => Self::Unavailable,
            Rejection::NoHost => Self::NotUnderstood,
            Rejection::Internal => Self::Internal,
        }
    }

    /// The status of each refusal.
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
            Self::Forbidden | Self::Suspended | Self::OtherSession | Self::CrossSite => StatusCode::FORBIDDEN,
            Self::Archived | Self::Locked => StatusCode::CONFLICT,
            Self::NotSignedIn => StatusCode::UNAUTHORIZED,
            Self::NotUnderstood => StatusCode::BAD_REQUEST,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooMany { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Unavailable | Self::TimedOut => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The page, as the error of a handler.
    pub(crate) fn refuse(self, web: &Web, visit: &Visit) -> Refused {
        self.refuse_with(web, visit, None)
    }

    /// The page, with what was to be done.
    pub(crate) fn refuse_with(self, web: &Web, visit: &Visit, unsent: Option<Markup>) -> Refused {
        // Services say no more than that it is not allowed; who is suspended is told that that is why.
        let reason = if matches!(self, Self::Forbidden) { Self::forbidden(visit) } else { self };
        reason.page_with(web, visit, unsent).into()
    }

    /// The page.
    pub(crate) fn page(&self, web: &Web, visit: &Visit) -> Response {
        self.page_with(web, visit, None)
    }

    /// The refusal as what is wrong with a form that is shown again, for those who try once more later.
    pub(crate) fn beside(&self, web: &Web, visit: &Visit, form: impl FnOnce(&Problems) -> String) -> Response {
        if visit.wants_fragment {
            return self.page(web, visit);
        }
        let (_, text) = self.words(web, visit);
        self.marked(reply::page(visit, self.status(), form(&Problems::of(text))))
    }

    fn page_with(&self, web: &Web, visit: &Visit, unsent: Option<Markup>) -> Response {
        let t = visit.texts();
        let status = self.status();
        let (title, text) = self.words(web, visit);
        if visit.wants_fragment {
            return self.marked((status, text).into_response());
        }
        let main = html! {
            h1 { (title) }
            p.lead { (text) }
            @if let Some(unsent) = unsent { (unsent) }
            p.buttons {
                @if matches!(self, Self::NotSignedIn) {
                    a.button.strong href=(sign_in_path(visit)) { (t.sign_in) }
                    a href=(sign_up_path(visit)) { (t.sign_up) }
                }
                a href="/" { (t.to_front_page) }
            }
        };
        self.marked(unlisted(web, visit, status, title, main))
    }

    /// What happened, and what to do about it.
    fn words(&self, web: &Web, visit: &Visit) -> (&'static str, Cow<'static, str>) {
        let t = visit.texts();
        let (title, text) = match self {
            Self::NotFound => (t.not_found, t.not_found_text),
            Self::WrongMethod => (t.wrong_method, t.wrong_method_text),
            Self::Forbidden => (t.forbidden, t.forbidden_text),
            Self::Suspended => return (t.suspended_title, suspended(web, visit).into()),
            Self::Archived => (t.archived, t.archived_text),
            Self::Locked => (t.locked, t.locked_text),
            Self::NotSignedIn => (t.not_signed_in, t.not_signed_in_text),
            Self::OtherSession => (t.form_too_old, t.other_session),
            Self::CrossSite => (t.forbidden, t.cross_site_text),
            Self::NotUnderstood => (t.not_understood, t.not_understood_text),
            Self::TooLarge => (t.too_large, t.too_large_text),
            Self::TooMany { limit, retry_after, .. } => {
                return (t.too_many, texts::too_many(visit.preferences.lang, *limit, *retry_after).into());
            }
            Self::TooSlow => (t.too_slow, t.too_slow_text),
            Self::TimedOut => (t.timed_out, t.timed_out_text),
            Self::Unavailable => (t.unavailable, t.unavailable_text),
            Self::Internal => (t.internal, t.internal_text),
        };
        (title, text.into())
    }

    fn marked(&self, mut response: Response) -> Response {
        let seconds = match self {
            Self::Unavailable | Self::TimedOut => 1,
            Self::TooMany { retry_after, .. } => texts::whole_seconds(*retry_after),
            _ => return response,
        };
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        if let Self::TooMany { rejection: Some(rejection), .. } = self {
            rejection.tell_limits(response.headers_mut());
        }
        response
    }
}

/// Until when the reader may only read, and why.
pub(crate) fn suspended(web: &Web, visit: &Visit) -> String {
    let suspension = visit.actor().and_then(|actor| web.site.members.suspension(actor.member_id));
    let until = suspension.as_ref().map(|suspension| web.time.minute(suspension.until));
    let reason = suspension.map(|suspension| suspension.reason).unwrap_or_default();
    texts::suspended(visit.preferences.lang, until.as_deref(), &plain(&reason, REASON_MAX_CHARS))
}

impl From<FormSessionError> for WebError {
    fn from(not_yet: FormSessionError) -> Self {
        match not_yet {
            FormSessionError::NotSignedIn => Self::NotSignedIn,
            FormSessionError::OtherSession => Self::OtherSession,
        }
    }
}

impl From<StoreError> for WebError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Unavailable { .. } => {
                tracing::warn!("cannot show a page, answering with 503: {error}");
                Self::Unavailable
            }
            StoreError::Broken { what, source } => {
                tracing::error!("cannot show a page, answering with 500: {what}: {source}");
                Self::Internal
            }
        }
    }
}

impl From<ArticleError> for WebError {
    fn from(error: ArticleError) -> Self {
        match error {
            ArticleError::NotFound(_) => Self::NotFound,
            ArticleError::Forbidden(_) => Self::Forbidden,
            ArticleError::Store(error) => error.into(),
            ArticleError::Archived => Self::Archived,
            ArticleError::Invalid(_)
            | ArticleError::Changed
            | ArticleError::SlugTaken
            | ArticleError::HasArticles
            | ArticleError::TooManyPins
            | ArticleError::KeyReused => Self::NotUnderstood,
        }
    }
}

impl From<CommentError> for WebError {
    fn from(error: CommentError) -> Self {
        match error {
            CommentError::NotFound(_) | CommentError::Cursor(_) => Self::NotFound,
            CommentError::Forbidden(_) => Self::Forbidden,
            CommentError::Archived => Self::Archived,
            CommentError::Locked => Self::Locked,
            CommentError::Store(error) => error.into(),
            CommentError::Invalid(_)
            | CommentError::TooDeep(_)
            | CommentError::LevelFull(_)
            | CommentError::Changed
            | CommentError::KeyReused => Self::NotUnderstood,
        }
    }
}

impl From<LikeError> for WebError {
    fn from(error: LikeError) -> Self {
        match error {
            LikeError::NotFound => Self::NotFound,
            LikeError::Forbidden(_) => Self::Forbidden,
            LikeError::Archived => Self::Archived,
            LikeError::Invalid(_) => Self::NotUnderstood,
            LikeError::Store(error) => error.into(),
        }
    }
}

impl From<MemberError> for WebError {
    fn from(error: MemberError) -> Self {
        match error {
            MemberError::NotFound | MemberError::NoSuchReset => Self::NotFound,
            MemberError::NotSignedIn(_) => Self::NotSignedIn,
            MemberError::Forbidden(_) => Self::Forbidden,
            MemberError::WrongPassword
            | MemberError::NameTaken
            | MemberError::LastAdmin
            | MemberError::Suspended
            | MemberError::TooManyBoards
            | MemberError::Invalid(_) => Self::NotUnderstood,
            MemberError::Store(error) => error.into(),
        }
    }
}
