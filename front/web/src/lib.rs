//! Pages for people, rendered on the server over the services themselves. They work without a script, and better with one.
//!
//! Handlers ask the services and hand values to a view; views are functions from values to markup. Every refusal becomes a
//! page in one place, [`error`].

mod admin;
mod article;
mod assets;
mod board;
mod board_directory;
mod comments;
mod crawlers;
mod dead_letters;
mod edit;
mod error;
mod feeds;
mod form;
mod form_token;
mod home;
mod hot;
mod idempotency;
mod layout;
mod like;
mod live;
mod lost;
mod member;
mod moderation;
mod page_cache;
mod password;
mod posted;
mod preferences;
mod query;
mod reply;
mod report;
mod router;
mod setup;
mod sign_in;
mod sign_up;
mod site_time;
mod state;
mod texts;
mod trim;
mod visit;
mod write;
mod zip;

pub use live::{Change, Changes, LiveFeed, LiveHub, LiveInterest, Reading, State as LiveState, Subscription};
pub use router::router;
pub use state::WebState;
