//! What every [`CommentStore`] must do: one transaction a call, counts that equal rows, one event a change, and nothing
//! left of an article that is gone.

mod activity;
mod acts;
mod by_writer;
mod concurrency;
mod editing;
mod gone;
mod idempotency;
mod locks;
mod model;
mod removed;
mod site;
mod writing;

use std::future::Future;
use std::sync::Arc;

use madang_comment::CommentStore;
use madang_kernel::ManualClock;
use madang_member::ActSource;
use madang_messaging::Message;

use activity::*;
use acts::*;
use by_writer::*;
use concurrency::*;
use editing::*;
use gone::*;
use idempotency::*;
use locks::*;
use model::*;
use removed::*;
use writing::*;

/// An adapter under test, with what the port alone does not show.
pub trait CommentStoreHarness: Send + Sync + Sized + 'static {
    /// An empty store of its own.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The store.
    fn store(&self) -> Arc<dyn CommentStore>;
    /// The clock that the store reads.
    fn clock(&self) -> &ManualClock;
    /// Every message committed so far, in commit order.
    fn committed(&self) -> impl Future<Output = Vec<Message>> + Send;
    /// What a comparison of every counter with the rows it counts finds wrong.
    fn differences(&self) -> impl Future<Output = Vec<String>> + Send;
    /// What it wrote into the log of moderation.
    fn acts(&self) -> Arc<dyn ActSource>;
}

listed_suite! {
    $ comment_store_suite, comment_store, CommentStoreHarness;
    a_created_comment_is_found_as_it_was,
    each_change_has_one_event_without_text,
    a_parent_of_another_article_is_refused,
    two_levels_and_the_depth_of_a_tree_are_kept,
    a_comment_with_replies_becomes_a_mark,
    a_leaf_goes_with_every_mark_left_childless,
    what_is_absent_is_not_deleted,
    a_moderators_deletion_is_told_with_it_and_only_with_it,
    what_a_moderator_removed_keeps_its_place_and_comes_back,
    what_is_purged_goes_with_the_marks_left_childless,
    what_was_removed_goes_with_its_article_and_in_its_time,
    an_edited_comment_is_found_with_its_new_text_everywhere,
    an_edit_keeps_the_counts_and_is_reported_at_their_next_version,
    a_stale_version_changes_nothing,
    a_mark_and_what_is_absent_are_not_edited,
    a_repeated_request_answers_with_the_corrected_text,
    of_racing_edits_of_one_version_one_wins,
    an_edit_that_races_a_deletion_brings_no_text_back,
    a_moderators_edit_is_told_with_it_and_only_with_it,
    a_locked_article_takes_comments_of_the_exempt_alone,
    a_lock_is_told_once_and_in_the_order_of_the_comments,
    a_gone_article_is_not_locked_and_one_that_comes_back_is_as_it_was,
    once_an_article_is_locked_no_comment_slips_through,
    two_levels_take_only_growing_ids,
    a_comment_that_takes_a_deleted_path_is_not_skipped,
    the_same_key_creates_one_comment_and_answers_as_then,
    a_repeated_request_tells_no_deleted_text,
    a_key_with_another_body_is_refused,
    random_changes_of_two_levels_agree_with_a_model,
    random_changes_of_a_tree_agree_with_a_model,
    concurrent_repliers_get_different_paths,
    concurrent_repliers_of_two_levels_are_all_counted,
    a_cursor_list_skips_and_repeats_nothing_while_others_write,
    counts_come_in_the_order_asked,
    a_writers_comments_are_listed_newest_first,
    comments_are_found_in_the_order_asked,
    a_gone_article_takes_no_comment_and_shows_none,
    an_article_that_was_never_gone_shows_what_is_left,
    cleaning_up_goes_slice_by_slice_and_spares_the_living,
    comments_racing_the_deletion_leave_neither_row_nor_counter,
    articles_with_comments_are_listed_after_the_cursor,
    active_articles_are_those_last_commented,
    a_restored_comment_is_the_newest_again,
    racing_comments_and_deletions_leave_the_newest_told,
}
