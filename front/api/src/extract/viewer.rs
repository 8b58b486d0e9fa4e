//! Who looks at something: a member by their session, a guest by what can be known of them without asking.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use madang_view::Viewer;

use super::{client, session};
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
        Ok(Self(api.guests.guest(client::address(parts, api), user_agent)))
    }
}
