//! Who asks: a bearer token, or the session cookie, which browsers send by themselves and which is therefore believed
//! on writes only when the request comes from our own pages.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use madang_kernel::{Id as _, note_caller};
use madang_member::Session;
use madang_server::{is_same_origin, session_token};

use crate::ApiError;
use crate::state::Shared;

const SIGN_IN_FIRST: ApiError = ApiError::NotSignedIn("Sign in first, with POST /api/v1/sessions.");

/// A signed-in member.
pub(crate) struct Signed(pub(crate) Session);

impl<T: Send + Sync> FromRequestParts<Shared<T>> for Signed {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Shared<T>) -> Result<Self, ApiError> {
        let session = session(parts, api)?.ok_or(SIGN_IN_FIRST)?;
        if let Some(limiter) = &api.policy.limiter
            && !parts.method.is_safe()
        {
            limiter.admit_write(session.actor.member_id).await?;
        }
        Ok(Self(session))
    }
}

/// A signed-in member who sees to their own account: ends sessions, changes the password. Not charged to what they write,
/// or whoever has stolen a token could keep its owner from ending it by using the limit up. The limits of addresses and of
/// password checks hold.
pub(crate) struct AccountOwner(pub(crate) Session);

impl<T: Send + Sync> FromRequestParts<Shared<T>> for AccountOwner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Shared<T>) -> Result<Self, ApiError> {
        Ok(Self(session(parts, api)?.ok_or(SIGN_IN_FIRST)?))
    }
}

/// A signed-in member, or a guest. Only who sends no token at all is a guest: one who sends a bad token believes to be
/// signed in, and an answer meant for guests would be wrong for them without saying so.
pub(crate) struct Visitor(pub(crate) Option<Session>);

impl<T: Send + Sync> FromRequestParts<Shared<T>> for Visitor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Shared<T>) -> Result<Self, ApiError> {
        Ok(Self(session(parts, api)?))
    }
}

/// Whose token the request carries, if it carries one; the log is told.
pub(super) fn session<T>(parts: &Parts, api: &Shared<T>) -> Result<Option<Session>, ApiError> {
    let session = authenticated(parts, api)?;
    if let Some(session) = &session {
        note_caller(session.actor.member_id.raw());
    }
    Ok(session)
}

fn authenticated<T>(parts: &Parts, api: &Shared<T>) -> Result<Option<Session>, ApiError> {
    // A request that names a token means that token: a bad one does not fall back to the cookie.
    if let Some(value) = parts.headers.get(header::AUTHORIZATION) {
        let token = value.to_str().ok().and_then(bearer);
        let token = token.ok_or(ApiError::NotSignedIn("The Authorization header must be: Bearer <token>."))?;
        return Ok(Some(api.sessions.authenticate(token)?));
    }
    let Some(token) = session_token(&parts.headers) else {
        return Ok(None);
    };
    let session = api.sessions.authenticate(token)?;
    if !parts.method.is_safe() && !is_same_origin(&parts.headers) {
        return Err(ApiError::Forbidden(
            "A request that changes something with the session cookie must come from a page of this site.".into(),
        ));
    }
    Ok(Some(session))
}

pub(super) fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim()).filter(|token| !token.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_schemes_are_no_bearer_tokens() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer abc"), Some("abc"));
        for value in ["abc", "Basic abc", "Bearer", "Bearer ", ""] {
            assert_eq!(bearer(value), None, "{value:?}");
        }
    }
}
