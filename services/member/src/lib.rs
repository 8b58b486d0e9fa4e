//! Members: who they are, how they sign in, what they may do, and the port to their store.

mod background_threads;
mod device;
mod look_alike;
mod model;
mod moderation;
mod name;
mod own_sessions;
mod password;
mod recovery;
mod reserved_names;
mod revocations;
mod service;
mod sessions;
mod sightings;
mod sign_in_log;
mod staff;
mod standing;
mod store;
mod supervision;
mod token;
mod upkeep;
mod weak_passwords;

pub use device::DeviceId;
pub use look_alike::{name_skeleton, second_skeleton};
pub use model::Member;
pub use moderation::{ActSource, Moderated, Moderation, ModerationStore, NewReport, ResolveReport};
pub use name::{MemberName, NAME_MAX_CHARS, NAME_MIN_CHARS, name_key};
pub use own_sessions::OwnSession;
pub use password::{PASSWORD_MAX_CHARS, PASSWORD_MIN_CHARS};
pub use recovery::{PasswordReset, RESET_TTL, ResetDigest, ResetLink};
pub use reserved_names::{RESERVED_NAMES, ReservedNames};
pub use revocations::forgettable_at;
pub use service::{Client, MemberError, MemberOptions, MemberService, SignedIn};
pub use sessions::{REVOCATIONS_AGE_MAX, REVOCATIONS_PAGE, RevocationSource, Session, Sessions};
pub use standing::{Change, ChangeRefused, MODERATES_MAX, MemberRecord, Proof, Standing, Suspension};
pub use store::{
    ChangeMember, ChangeOutcome, CreateMember, MemberStore, NewMember, Revocation, RevocationCursor, SessionRecord,
};
pub use supervision::MODERATORS_MAX;
pub use token::{SIGNING_KEYS_MAX, SigningKeys};
