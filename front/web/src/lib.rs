//! Pages for people, rendered on the server over the services themselves. They work without a script, and better with one.
//!
//! Handlers ask the services and hand values to a view; views are functions from values to markup. Every refusal becomes a
//! page in one place, [`error`], and `WebError::status` decides its status. A page that is shown with its own problems, such
//! as a form that was not accepted, has its status named beside them.

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
mod flash;
mod form;
mod form_token;
mod health;
mod home;
mod hot;
mod idempotency;
mod layout;
mod like;
mod live;
mod member;
mod moderation;
mod page_cache;
mod password;
mod plain_text;
mod posted;
mod preferences;
mod query;
mod ranks;
mod recovery;
mod refusals;
mod removed;
mod reply;
mod report;
mod router;
mod rule_texts;
mod search;
mod sessions;
mod setup;
mod sign_in;
mod sign_up;
mod site_time;
mod state;
mod texts;
mod unsent;
mod visit;
mod write;
mod wrong_method;

pub use live::{Change, Changes, LiveFeed, LiveHub, LiveInterest, Reading, State as LiveState, Subscription};
pub use router::pages;
pub use state::WebState;
