//! What every [`ReadModel`] must do: merge by version, keep what comes during a rebuild, forget in time, make nothing up.

mod articles;
mod crowd;
mod lists;
mod rebuilds;
mod site;
mod time;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use madang_article_read::ReadModel;

use articles::*;
use crowd::*;
use lists::*;
use rebuilds::*;
use time::*;

/// An adapter under test, with what the port alone does not show.
pub trait ReadModelHarness: Send + Sync + Sized + 'static {
    /// An empty model of its own, with room for a few thousand articles.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The model.
    fn model(&self) -> Arc<dyn ReadModel>;
    /// Lets time pass, as the model sees it.
    fn pass(&self, span: Duration) -> impl Future<Output = ()> + Send;
}

listed_suite! {
    $ read_model_suite, read_model, ReadModelHarness;
    what_nobody_told_is_a_miss,
    articles_are_found_in_the_order_asked,
    events_are_merged_by_version,
    a_lock_is_merged_with_the_comments_and_kept_by_a_rebuild,
    an_event_alone_brings_nothing_in,
    a_redelivered_creation_resets_and_revives_nothing,
    what_is_restored_is_shown_and_an_older_deletion_changes_nothing,
    an_absent_article_that_is_reported_becomes_unknown,
    any_order_of_events_gives_the_same_article,
    what_is_settled_changes_nothing,
    sizes_are_told,
    what_is_held_is_told_shard_by_shard,
    a_rebuild_never_overwrites_an_event,
    a_late_event_does_not_overwrite_a_rebuild,
    a_deletion_during_a_rebuild_wins,
    an_absence_that_an_event_contradicts_is_asked_again,
    an_abandoned_placeholder_keeps_nothing,
    only_the_last_ticket_fills,
    what_is_there_stays_readable_during_a_rebuild,
    a_model_that_is_cleared_takes_no_rebuild_from_before,
    an_absence_lasts_for_a_moment,
    an_article_is_kept_for_a_day_whatever_happens_to_it,
    a_refresh_starts_a_new_day,
    a_list_is_kept_for_a_day_whatever_happens_to_it,
    a_complete_list_answers_short_pages,
    a_list_that_goes_on_says_so,
    a_list_follows_events,
    a_list_is_told_as_it_is_held,
    a_list_keeps_what_comes_during_its_rebuild,
    a_rebuilt_list_takes_the_place_of_the_old_one,
    candidates_that_are_gone_stay_away,
    what_is_restored_is_listed_and_an_older_deletion_changes_nothing,
    an_absent_board_that_is_reported_becomes_unknown,
    an_absent_board_that_an_event_contradicts_is_asked_again,
    a_list_that_is_cleared_takes_no_rebuild_from_before,
    an_abandoned_list_keeps_nothing,
    boards_do_not_mix,
    rebuilds_and_events_of_a_crowd_end_with_the_newest,
}
