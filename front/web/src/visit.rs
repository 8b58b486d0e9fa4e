//! Who looks at a page, how they like it, and from where: what every handler and every view starts from.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Method, header};
use madang_board::rules::{self, About, Action};
use madang_board::{Actor, MemberId, Role};
use madang_kernel::{Id as _, note_caller};
use madang_member::{Client, DeviceId, MemberError, Session};
use madang_server::{client_address, device_note, gzip, requested_host, session_token};
use madang_view::Viewer;

use crate::error::{Refused, WebError};
use crate::flash::Flash;
use crate::form_token;
use crate::posted::local_path;
use crate::preferences::Preferences;
use crate::state::{Shared, Web};
use crate::texts::{ModeratingTexts, Texts};

/// Sent by our script when it wants a part of a page.
const FRAGMENT: &str = "x-madang-fragment";

/// One request for a page.
pub(crate) struct Visit {
    /// Who it is; `None` for a guest, and for one whose session has ended.
    pub(crate) session: Option<Session>,
    /// Whether there is a session of which nobody can tell now if it has ended.
    is_unverified: bool,
    /// What they chose.
    pub(crate) preferences: Preferences,
    /// A page to come back to: the one that was asked for, or the one with the form that was sent.
    pub(crate) here: String,
    /// Scheme and host of the site: as its settings say, or as the reader wrote them.
    pub(crate) base: String,
    /// Scheme and host as the settings say, for what the site says of itself: any reader can write any host.
    pub(crate) site_url: Option<Arc<str>>,
    /// What was just done, to be said once.
    pub(crate) flash: Option<Flash>,
    /// Whether cookies are sent over TLS only.
    pub(crate) cookies_secure: bool,
    /// Where the request comes from.
    pub(crate) address: IpAddr,
    /// Whether only a part of the page is wanted, by our own script.
    pub(crate) wants_fragment: bool,
    /// Whether the answer may be compressed.
    pub(crate) takes_gzip: bool,
    /// Tags of what the reader has already.
    pub(crate) seen: Option<axum::http::HeaderValue>,
    cookie: Option<Arc<str>>,
    device_note: Option<String>,
    user_agent: Option<axum::http::HeaderValue>,
    is_prefetch: bool,
}

impl FromRequestParts<Shared> for Visit {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, web: &Shared) -> Result<Self, Refused> {
        Self::of(parts, web).verified(web)
    }
}

impl Visit {
    /// Reads what a request says of its sender. A session that is no longer good is a guest's.
    pub(crate) fn of(parts: &Parts, web: &Web) -> Self {
        let headers = &parts.headers;
        let token = session_token(headers);
        let known = token.map(|token| web.site.members.authenticate(token));
        let is_unverified = matches!(known, Some(Err(MemberError::Store(_))));
        let session = known.and_then(Result::ok);
        if let Some(session) = &session {
            note_caller(session.actor.member_id.raw());
        }
        Self {
            is_unverified,
            cookie: session.as_ref().and(token).map(Arc::from),
            session,
            preferences: Preferences::of(headers),
            here: here(parts),
            base: web.site.policy.base(headers),
            site_url: web.site.policy.site_url.clone(),
            flash: Flash::of(headers).filter(|_| parts.method == Method::GET),
            cookies_secure: web.site.policy.cookies_secure,
            wants_fragment: headers.contains_key(FRAGMENT),
            takes_gzip: gzip::is_accepted(headers),
            seen: headers.get(header::IF_NONE_MATCH).cloned(),
            device_note: device_note(headers).map(str::to_owned),
            address: client_address(&parts.extensions, headers, &web.site.policy.trusted_proxies),
            user_agent: headers.get(header::USER_AGENT).cloned(),
            is_prefetch: headers.contains_key("sec-purpose") || parts.method == Method::HEAD,
        }
    }

    /// The network that the request comes from.
    pub(crate) fn network(&self) -> IpAddr {
        madang_server::network(self.address)
    }

    /// The visit, unless its sender believes to be signed in and nobody can tell: a guest's page would be wrong for them
    /// without saying so.
    pub(crate) fn verified(self, web: &Web) -> Result<Self, Refused> {
        if self.is_unverified { Err(WebError::Unavailable.refuse(web, &self)) } else { Ok(self) }
    }

    /// The texts in the reader's language.
    pub(crate) fn texts(&self) -> &'static Texts {
        Texts::in_language(self.preferences.lang)
    }

    /// What moderators read, in the same language.
    pub(crate) fn moderating_texts(&self) -> &'static ModeratingTexts {
        ModeratingTexts::in_language(self.preferences.lang)
    }

    /// The member who reads.
    pub(crate) fn actor(&self) -> Option<&Actor> {
        self.session.as_ref().map(|session| &session.actor)
    }

    /// Whether the reader is this member.
    pub(crate) fn is(&self, member: MemberId) -> bool {
        self.actor().is_some_and(|actor| actor.member_id == member)
    }

    /// Whether the reader may do what this role may.
    pub(crate) fn has(&self, role: Role) -> bool {
        self.actor().is_some_and(|actor| actor.role >= role)
    }

    /// Whether the reader may do something, by the rules of the site.
    pub(crate) fn may(&self, action: Action, about: About) -> bool {
        self.actor().is_some_and(|actor| rules::may(actor, action, about).is_ok())
    }

    /// Whether the reader is a member who may write.
    pub(crate) fn writes(&self) -> bool {
        self.may(Action::WriteComment, About::NOTHING)
    }

    /// Refuses who may not write, before they are shown a form that fails.
    pub(crate) fn require_writer(&self) -> Result<(), WebError> {
        match &self.session {
            None => Err(WebError::NotSignedIn),
            Some(_) if self.writes() => Ok(()),
            Some(_) => Err(WebError::forbidden(self)),
        }
    }

    /// Whether the reader moderates the site, or a board of it.
    pub(crate) fn moderates(&self) -> bool {
        self.actor().is_some_and(|actor| actor.role >= Role::Moderator || !actor.moderates.is_empty())
    }

    /// The token for a form; empty for a guest, whose forms are protected by their origin alone.
    pub(crate) fn form_token(&self) -> String {
        self.cookie.as_deref().map(form_token::issue).unwrap_or_default()
    }

    /// Whether a form was made for this session.
    pub(crate) fn made(&self, form_token: &str) -> bool {
        self.cookie.as_deref().is_some_and(|cookie| form_token::is_good(cookie, form_token))
    }

    /// Their browser, on a device that the account knows or not.
    pub(crate) fn client(&self, device: Option<DeviceId>) -> Client {
        let agent = self.user_agent.as_ref().map(|value| String::from_utf8_lossy(value.as_bytes()));
        Client { address: Some(self.address), device, agent: agent.unwrap_or_default().into_owned() }
    }

    /// The device that they use, if somebody signed in on it as `name` before.
    pub(crate) fn device(&self, web: &Web, name: &str) -> Option<DeviceId> {
        web.site.members.sessions().device(self.device_note.as_deref()?, name)
    }

    /// Who counts as one viewer; nobody when a browser only looks ahead.
    pub(crate) fn viewer(&self, web: &Web) -> Option<Viewer> {
        if self.is_prefetch {
            return None;
        }
        Some(match self.actor() {
            Some(actor) => Viewer::member(actor.member_id),
            None => {
                let user_agent = self.user_agent.as_ref().map_or(&[][..], |value| value.as_bytes());
                web.site.guests.guest(self.address, user_agent)
            }
        })
    }
}

/// Browsers say, to us alone, from which page a form was sent; of those that do not, the form's address says enough.
fn here(parts: &Parts) -> String {
    if parts.method.is_safe() {
        return parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    }
    let from = parts.headers.get(header::REFERER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let rest = from.strip_prefix("https://").or_else(|| from.strip_prefix("http://")).unwrap_or_default();
    let path = rest.strip_prefix(requested_host(&parts.headers)).filter(|path| path.starts_with('/'));
    local_path(&page_with_form(path.unwrap_or(parts.uri.path()))).to_owned()
}

/// The page with the form that is sent to an address: the same, unless nothing is to be read there.
fn page_with_form(path: &str) -> Cow<'_, str> {
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match segments[..] {
        ["articles", id, "comments" | "like" | "lock"] => format!("/articles/{id}").into(),
        ["members", id, "role" | "suspension" | "password-reset"] => format!("/members/{id}").into(),
        ["b", slug, "moderators" | "delete"] => format!("/b/{slug}/manage").into(),
        ["moderation", "reports", _] => "/moderation".into(),
        ["admin", "boards"] => "/admin".into(),
        ["sessions", _] => "/sessions".into(),
        ["preferences" | "preview" | "sign-out"] => "/".into(),
        _ => path.into(),
    }
}
