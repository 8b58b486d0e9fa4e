//! What is measured: one file a question.

pub(crate) mod deep_pages;
pub(crate) mod get_article;
pub(crate) mod post_article;
pub(crate) mod startup;
mod store;
