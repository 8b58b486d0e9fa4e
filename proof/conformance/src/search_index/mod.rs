//! What every [`SearchIndex`] must do: find exactly what a plain scan of the texts finds, merge by version, forget what is gone,
//! and be rebuilt beside the changes that come.

mod corpus;
mod exact;
mod filters;
mod merging;
mod rebuilding;
mod site;

use std::future::Future;
use std::sync::Arc;

use madang_messaging::GroupId;
use madang_search::SearchIndex;

use exact::*;
use filters::*;
use merging::*;
use rebuilding::*;

/// An adapter under test, with what the port alone does not show.
pub trait SearchIndexHarness: Send + Sync + Sized + 'static {
    /// An empty index of its own.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The index.
    fn index(&self) -> Arc<dyn SearchIndex>;
    /// Ends the index and opens it again on what it has kept. Earlier handles are dead.
    fn restart(&mut self) -> impl Future<Output = ()> + Send;
    /// Makes a consumer group known to the log beside the index, if there is one.
    fn join(&self, group: &GroupId, topics: &[String]) -> impl Future<Output = ()> + Send;
    /// How far a group has come in a topic; `None` when the index keeps no offsets.
    fn stored_offset(&self, group: &GroupId, topic: &str) -> impl Future<Output = Option<i64>> + Send;
}

listed_suite! {
    $ search_index_suite, search_index, SearchIndexHarness;
    every_kind_of_query_finds_what_a_plain_scan_of_ten_thousand_texts_finds,
    any_syntax_is_text,
    a_title_counts_more_than_a_text,
    lists_go_on_where_they_ended_without_gap_or_repetition,
    filters_leave_what_they_name,
    the_newer_version_wins_and_the_older_changes_nothing,
    what_is_gone_stays_gone_until_something_newer_comes,
    an_article_that_goes_takes_its_comments_along,
    applying_again_changes_nothing,
    offsets_commit_with_the_changes,
    marks_are_forgotten_in_their_time,
    a_restart_loses_nothing,
    a_new_index_says_that_it_is_being_filled,
    a_rebuild_takes_the_place_of_what_was_there,
    a_rebuild_keeps_what_changed_meanwhile,
    of_two_rebuilds_the_later_counts,
    a_rebuild_goes_on_after_a_restart,
}
