//! Members: who they are, how they sign in, what they may do, and the port to their store.

mod model;
mod service;
mod store;

pub use model::Member;
pub use service::{MemberError, MemberOptions, MemberService, Session, SignedIn};
pub use store::{CreateMember, Credentials, MemberStore, NewMember, Revocation, RevocationCursor};
