//! How often somebody may send a form; who decides it is outside.

use async_trait::async_trait;
use madang_board::MemberId;

/// Who sends a form, as far as a limit is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormSender<'a> {
    /// A member.
    Member(MemberId),
    /// Somebody who says that this is their name.
    Named(&'a str),
}

/// Says whether a form is taken.
#[async_trait]
pub trait FormLimits: Send + Sync {
    /// Whether this one may send a form now.
    async fn admit(&self, sender: FormSender<'_>) -> bool;
}

/// Takes every form.
pub struct NoFormLimits;

#[async_trait]
impl FormLimits for NoFormLimits {
    async fn admit(&self, _: FormSender<'_>) -> bool {
        true
    }
}
