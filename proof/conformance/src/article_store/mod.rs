//! What every [`ArticleStore`] must do: one transaction a call, counts that equal rows, one event a change.

mod acts;
mod boards;
mod concurrency;
mod editing;
mod idempotency;
mod lists;
mod many;
mod model;
mod pins;
mod removed;
mod site;
mod writing;

use std::future::Future;
use std::sync::Arc;

use madang_article::ArticleStore;
use madang_kernel::ManualClock;
use madang_member::ActSource;
use madang_messaging::Message;

use acts::*;
use boards::*;
use concurrency::*;
use editing::*;
use idempotency::*;
use lists::*;
use many::*;
use model::*;
use pins::*;
use removed::*;
use writing::*;

/// An adapter under test, with what the port alone does not show.
pub trait ArticleStoreHarness: Send + Sync + Sized + 'static {
    /// An empty store of its own.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The store.
    fn store(&self) -> Arc<dyn ArticleStore>;
    /// The clock that the store reads.
    fn clock(&self) -> &ManualClock;
    /// Every message committed so far, in commit order.
    fn committed(&self) -> impl Future<Output = Vec<Message>> + Send;
    /// What a comparison of every counter and block with the rows it counts finds wrong.
    fn differences(&self) -> impl Future<Output = Vec<String>> + Send;
    /// What it wrote into the log of moderation.
    fn acts(&self) -> Arc<dyn ActSource>;
}

listed_suite! {
    $ article_store_suite, article_store, ArticleStoreHarness;
    a_new_board_counts_nothing,
    boards_are_listed_oldest_first,
    a_slug_belongs_to_one_board,
    losers_of_a_race_for_a_slug_leave_nothing,
    an_edited_board_is_told_as_it_is_now,
    an_archived_board_takes_no_changes_until_it_is_opened_again,
    once_a_board_is_archived_nothing_slips_through,
    a_board_goes_only_without_articles,
    of_a_deletion_and_an_article_at_once_one_wins,
    a_created_article_is_found_as_it_was,
    the_longest_texts_of_four_byte_characters_are_kept,
    an_id_is_used_once_and_the_failure_leaves_nothing,
    an_article_without_a_board_is_refused_and_leaves_nothing,
    each_change_has_one_event_with_the_whole_state,
    an_edit_replaces_the_text_and_nothing_else,
    an_edit_of_an_old_version_changes_nothing,
    a_deletion_of_an_old_version_changes_nothing,
    what_is_absent_is_neither_edited_nor_deleted,
    a_deletion_outranks_every_version_before_it,
    a_moderators_act_is_told_with_the_change_and_only_with_it,
    what_is_pinned_last_comes_first_and_each_pin_is_told_once,
    a_board_has_room_for_a_few_pins_and_those_that_are_over_make_room,
    a_pin_goes_with_its_article,
    an_archived_board_keeps_its_pins_as_they_are,
    racing_moderators_never_pin_more_than_fit,
    what_a_moderator_removed_comes_back_as_it_was,
    what_was_removed_long_ago_is_ended_once,
    of_racing_restores_one_wins,
    the_same_key_creates_one_article_and_tells_no_text_that_is_gone,
    a_key_with_another_body_is_refused,
    a_key_belongs_to_its_member_and_scope,
    a_key_is_forgotten_after_a_day,
    a_board_key_answers_as_then,
    an_empty_board_has_an_empty_page,
    pages_are_newest_first_without_gap_or_overlap,
    a_page_past_the_end_is_empty,
    the_count_beside_a_page_is_capped,
    scroll_excludes_its_cursor_and_ends,
    scroll_goes_on_from_a_deleted_cursor,
    a_writers_articles_are_listed_newest_first_over_all_boards,
    boards_do_not_mix,
    the_newest_of_the_site_are_those_of_all_boards,
    late_small_ids_are_listed_and_counted,
    many_articles_come_in_the_order_asked,
    many_articles_are_of_one_moment,
    the_newest_are_ids_newest_first,
    the_newest_tell_whether_they_are_all,
    the_newest_and_their_count_are_of_one_moment,
    concurrent_writers_are_all_counted,
    concurrent_requests_with_one_key_create_one_article,
    of_concurrent_edits_of_one_version_one_wins,
    concurrent_creation_and_deletion_leave_count_equal_to_rows,
    random_changes_agree_with_a_model,
    deep_pages_are_exact_through_both_levels_of_blocks,
}
