//! Members: who they are, how they sign in, what they may do, and the port to their store.

mod background_threads;
mod model;
mod name;
mod password;
mod revocations;
mod service;
mod sessions;
mod store;
mod token;

pub use model::Member;
pub use name::{MemberName, NAME_MAX_CHARS, NAME_MIN_CHARS};
pub use password::{PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS};
pub use service::{MemberError, MemberOptions, MemberService, SignedIn};
pub use sessions::{REVOCATIONS_PAGE, RevocationSource, Session, Sessions};
pub use store::{CreateMember, Credentials, MemberStore, NewMember, Revocation, RevocationCursor};
