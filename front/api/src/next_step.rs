//! Where a list goes on that is asked for by cursor.

use serde::Serialize;

/// The cursor of the next step: null at the end, and left out of a numbered page, which has none.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct NextStep<C>(pub(crate) Option<C>);
