//! Members: who they are, how they sign in, what they may do, and the port to their store.

mod background_threads;
mod model;
mod moderation;
mod name;
mod password;
mod revocations;
mod service;
mod sessions;
mod standing;
mod store;
mod supervision;
mod token;

pub use model::Member;
pub use moderation::{ActSource, Moderated, Moderation, ModerationStore, NewReport, ResolveReport};
pub use name::{MemberName, NAME_MAX_CHARS, NAME_MIN_CHARS, name_key};
pub use password::{PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS};
pub use service::{MemberError, MemberOptions, MemberService, SignedIn};
pub use sessions::{REVOCATIONS_AGE_MAX, REVOCATIONS_PAGE, RevocationSource, Session, Sessions};
pub use standing::{Change, ChangeRefused, MODERATES_MAX, MemberRecord, Standing};
pub use store::{ChangeMember, ChangeOutcome, CreateMember, MemberStore, NewMember, Revocation, RevocationCursor};
pub use token::{SIGNING_KEYS_MAX, SigningKeys};
