//! The pages for what never reaches a handler: requests past a limit, and addresses that lead nowhere.

use axum::extract::Request;
use axum::response::Response;
use madang_server::{RefusalPages, Rejection};

use crate::error::{Limit, WebError};
use crate::state::Shared;
use crate::visit::Visit;

/// Pages of refusals, in the reader's language and the site's look.
pub(crate) struct Refusals(pub(crate) Shared);

impl RefusalPages for Refusals {
    fn rejected(&self, rejection: &Rejection, request: Request) -> Response {
        let error = WebError::of_rejection(rejection, Limit::Requests);
        let (parts, _) = request.into_parts();
        // Refusing must stay cheaper than answering.
        let mut visit = Visit::of(&parts, &self.0);
        visit.takes_gzip = false;
        error.page(&self.0, &visit)
    }

    fn not_found(&self, request: Request) -> Response {
        let (parts, _) = request.into_parts();
        WebError::NotFound.page(&self.0, &Visit::of(&parts, &self.0))
    }
}
