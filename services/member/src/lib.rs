//! Members: who they are, how they sign in, what they may do, and the port to their store.

mod model;
mod store;

pub use model::{Member, Role};
pub use store::{CreateMember, Credentials, MemberStore, NewMember, Revocation, RevocationCursor};
