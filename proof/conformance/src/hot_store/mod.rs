//! What every [`HotStore`] must do: exact rankings whatever the order of events, final lists that only deletions change, and
//! agreement with a plain recount over a hundred thousand events.

mod finality;
mod randomized;
mod recount;
mod replacing;
mod scoring;
mod site;
mod tallies;
mod traffic;
mod upkeep;

use std::future::Future;
use std::sync::Arc;

use madang_hot_article::HotStore;
use madang_messaging::GroupId;

use finality::*;
use randomized::*;
use replacing::*;
use scoring::*;
use tallies::*;
use upkeep::*;

/// An adapter under test, with what the port alone does not show.
pub trait HotStoreHarness: Send + Sync + Sized + 'static {
    /// An empty store of its own.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The store.
    fn store(&self) -> Arc<dyn HotStore>;
    /// Ends the store and opens it again on what it has kept. Earlier handles are dead.
    fn restart(&mut self) -> impl Future<Output = ()> + Send;
    /// Makes a consumer group known to the log beside the store, if there is one.
    fn join(&self, group: &GroupId, topics: &[String]) -> impl Future<Output = ()> + Send;
    /// How far a group has come in a topic; `None` when the store keeps no offsets.
    fn stored_offset(&self, group: &GroupId, topic: &str) -> impl Future<Output = Option<i64>> + Send;
    /// Makes the derived score of every article that counts wrong.
    fn damage_scores(&self) -> impl Future<Output = ()> + Send;
    /// What a comparison of scores and lists with their counts finds wrong.
    fn differences(&self) -> impl Future<Output = Vec<String>> + Send;
}

listed_suite! {
    $ hot_store_suite, hot_store, HotStoreHarness;
    an_article_scores_by_its_counts,
    the_newer_version_of_each_group_wins,
    of_equals_the_earlier_article_comes_first,
    the_eleventh_comes_back_when_a_score_falls,
    what_scores_nothing_is_not_listed,
    a_deleted_article_never_comes_back,
    days_do_not_mix,
    applying_again_changes_nothing,
    offsets_commit_with_the_changes,
    the_greatest_counts_are_kept,
    a_restart_loses_nothing,
    a_final_list_is_not_changed_by_late_counts,
    a_final_list_keeps_twenty,
    finalising_again_changes_nothing,
    a_deletion_leaves_a_final_list,
    what_is_removed_is_listed_again_with_its_counts_once_restored,
    a_deletion_before_the_end_lets_the_next_in,
    a_day_without_scores_has_an_empty_final_list,
    lists_come_in_the_order_asked,
    counts_that_race_the_end_are_in_the_list_or_nowhere,
    a_store_that_tells_tallies_tells_them_as_they_are,
    tallies_of_a_day_come_in_slices,
    what_the_owners_say_takes_the_place_of_what_was_held,
    what_changed_since_it_was_held_is_not_replaced,
    of_a_final_day_a_replacement_only_removes,
    old_days_are_forgotten_in_slices,
    a_rebuild_corrects_every_score,
    a_rebuild_of_a_sound_ranking_changes_nothing,
    lists_agree_with_a_recount_of_a_hundred_thousand_events,
}
