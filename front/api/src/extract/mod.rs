//! What handlers take out of a request. Our own instead of axum's, so that every rejection is a problem with the status
//! that the contract names.

#[cfg(test)]
mod any_text;
mod body;
mod client_address;
mod condition;
mod guesser;
mod idempotency;
mod json;
mod list_query;
mod path_id;
mod reader;
mod search_query;
mod session;
mod viewer;

pub(crate) use client_address::ClientAddress;
pub(crate) use condition::IfMatch;
pub(crate) use guesser::SignInFrom;
pub(crate) use idempotency::IdempotencyKey;
pub(crate) use json::{Json, OptionalJson};
pub(crate) use list_query::{
    ActQuery, BoardArticlesQuery, CommentCursorText, ListQuery, ReportQuery, ScrollQuery, SiteArticlesQuery,
    rank_cursor,
};
pub(crate) use path_id::{AnyPath, ModeratorPath, PathId};
pub(crate) use reader::{Form, Reader};
pub(crate) use search_query::SearchQuery;
pub(crate) use session::{AccountOwner, Signed, Visitor};
pub(crate) use viewer::ViewedBy;
