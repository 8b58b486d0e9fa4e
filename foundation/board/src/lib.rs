//! What the services of the board agree on beside their events: what things are called, who acts, who may do what, and
//! what services may ask one another at once. No I/O.

/// The names of what an enumeration has, as columns hold them; and back.
macro_rules! names {
    ($of:ident { $($variant:ident = $name:literal),+ $(,)? }) => {
        impl $of {
            /// Every one there is.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// How it is written in a column.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The one of that name.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}

mod actor;
pub mod check;
mod id;
mod lookup;
mod moderation;
mod pin;
mod removal;
pub mod rules;
pub mod text;

pub use actor::{Actor, Role};
pub use id::{ActId, ArticleId, BoardId, CommentId, MemberId, ReportId, SessionId};
pub use lookup::{ArticleFacts, ArticleLookup, BoardLookup, CommentLookup, CommentMode};
pub use moderation::{Act, ActKind, REASON_MAX_CHARS, Reason, Report, Reported, Resolution};
pub use pin::{PINS_MAX, Pin, pinned};
pub use removal::{RESTORABLE_DAYS, Removal, purge_due};
pub use text::TextRenderer;
