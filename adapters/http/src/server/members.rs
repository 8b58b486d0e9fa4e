//! Answers of the owner of members.

use std::sync::Arc;

use axum::Router;
use madang_member::{REVOCATIONS_PAGE, RevocationCursor, RevocationSource};

use super::reply::{at_most, with};
use crate::wire::{RevocationsAfter, RevocationsAnswer};

pub(super) fn routes(router: Router, source: &Arc<dyn RevocationSource>) -> Router {
    with(router, source, |source, question: RevocationsAfter| async move {
        let limit = usize::try_from(question.limit).unwrap_or(usize::MAX);
        at_most("limit", limit, REVOCATIONS_PAGE)?;
        let (revocations, next) = source.revocations_after(RevocationCursor(question.after), limit).await?;
        Ok(RevocationsAnswer { revocations, next: next.0 })
    })
}
