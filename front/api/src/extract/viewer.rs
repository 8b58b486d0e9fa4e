//! Who looks at something: a member by their session, a guest by what can be known of them without asking.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use madang_server::client_address;
use madang_view::Viewer;

use super::session;
use crate::ApiError;
use crate::state::{Shared, ViewCalls};

/// Whoever counts as one viewer. A session cookie sent by another site's page is refused as for any write: taken for a
/// guest, the member would count twice.
pub(crate) struct ViewedBy(pub(crate) Viewer);

impl FromRequestParts<Shared<ViewCalls>> for ViewedBy {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &Shared<ViewCalls>) -> Result<Self, ApiError> {
        if let Some(session) = session::session(parts, api)? {
            return Ok(Self(Viewer::member(session.actor.member_id)));
        }
        let user_agent = parts.headers.get(header::USER_AGENT).map_or(&[][..], |value| value.as_bytes());
        let address = client_address(&parts.extensions, &parts.headers, &api.policy.trusted_proxies);
        Ok(Self(api.guests.guest(address, user_agent)))
    }
}
