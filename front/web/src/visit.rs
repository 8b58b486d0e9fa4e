//! Who looks at a page, how they like it, and from where: what every handler and every view starts from.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use madang_board::rules::{self, About, Action};
use madang_board::{Actor, MemberId, Role};
use madang_member::{MemberError, Session};
use madang_server::{client_address, session_token};
use madang_view::Viewer;

use crate::error::{Refused, WebError};
use crate::preferences::Preferences;
use crate::state::{Shared, Web};
use crate::texts::Texts;
use crate::{form_token, gzip};

/// Sent by our script when it wants a part of a page.
const FRAGMENT: &str = "x-madang-fragment";
/// Hosts are not longer.
const HOST_BYTES_MAX: usize = 255;

/// One request for a page.
pub(crate) struct Visit {
    /// Who it is; `None` for a guest, and for one whose session has ended.
    pub(crate) session: Option<Session>,
    /// Whether there is a session of which nobody can tell now if it has ended.
    is_unverified: bool,
    /// What they chose.
    pub(crate) preferences: Preferences,
    /// The address that was asked for, to come back to.
    pub(crate) here: String,
    /// Scheme and host of the site: as its settings say, or as the reader wrote them.
    pub(crate) base: String,
    /// Whether only a part of the page is wanted, by our own script.
    pub(crate) wants_fragment: bool,
    /// Whether the answer may be compressed.
    pub(crate) takes_gzip: bool,
    /// Tags of what the reader has already.
    pub(crate) seen: Option<axum::http::HeaderValue>,
    cookie: Option<Arc<str>>,
    address: IpAddr,
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
        Self {
            is_unverified,
            cookie: session.as_ref().and(token).map(Arc::from),
            session,
            preferences: Preferences::of(headers),
            here: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            base: base(headers, web),
            wants_fragment: headers.contains_key(FRAGMENT),
            takes_gzip: gzip::is_accepted(headers),
            seen: headers.get(header::IF_NONE_MATCH).cloned(),
            address: client_address(&parts.extensions, headers, &web.site.policy.trusted_proxies),
            user_agent: headers.get(header::USER_AGENT).cloned(),
            is_prefetch: headers.contains_key("sec-purpose") || parts.method == axum::http::Method::HEAD,
        }
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

fn base(headers: &HeaderMap, web: &Web) -> String {
    if let Some(url) = &web.site.site_url {
        return url.to_string();
    }
    let scheme = if web.site.policy.cookies_secure { "https" } else { "http" };
    format!("{scheme}://{}", host(headers))
}

/// The host that was asked for, if it can be one.
fn host(headers: &HeaderMap) -> &str {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("localhost");
    let fits = host.len() <= HOST_BYTES_MAX
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']'));
    if fits { host } else { "localhost" }
}
