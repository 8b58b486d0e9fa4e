//! What every [`LikeStore`] must do, however it counts: exact answers, a count that equals the rows, nothing after the end.

mod concurrency;
mod giving;
mod leaving;
mod lists;
mod site;

use std::future::Future;
use std::sync::Arc;

use madang_board::ArticleId;
use madang_like::LikeStore;
use madang_messaging::Message;

use concurrency::*;
use giving::*;
use leaving::*;
use lists::*;

/// An adapter under test, with what the port alone does not show.
pub trait LikeStoreHarness: Send + Sync + Sized + 'static {
    /// Members of the largest crowd; fewer for a way of counting that suffers from crowds.
    const CROWD: i64 = 3_000;
    /// Tasks that the crowd comes in.
    const TASKS: i64 = 100;

    /// An empty store of its own.
    fn fresh() -> impl Future<Output = Self> + Send;
    /// The store.
    fn store(&self) -> Arc<dyn LikeStore>;
    /// Every message committed so far, in commit order.
    fn committed(&self) -> impl Future<Output = Vec<Message>> + Send;
    /// What the counter says (`None` when there is none) and how many rows there are, seen in one snapshot.
    fn count_and_rows(&self, article: ArticleId) -> impl Future<Output = (Option<u64>, u64)> + Send;
    /// What a comparison of every counter with the rows it counts finds wrong.
    fn differences(&self) -> impl Future<Output = Vec<String>> + Send;
}

listed_suite! {
    $ like_store_suite, like_store, LikeStoreHarness;
    an_article_nobody_likes_counts_zero,
    a_like_counts_once_however_often_it_is_given,
    taking_back_what_was_not_given_changes_nothing,
    each_change_has_one_event_with_the_count_after_it,
    a_name_and_a_time_are_kept_as_they_were,
    articles_do_not_mix,
    likers_are_listed_by_member_and_exclude_the_cursor,
    counts_come_in_the_order_asked,
    counted_articles_are_listed_after_the_cursor,
    a_marked_article_takes_no_more_likes,
    a_marked_article_is_cleaned_up_in_slices,
    what_is_not_marked_is_not_cleaned_up,
    an_article_that_was_never_gone_counts_what_is_left,
    likes_that_race_the_mark_leave_no_orphan,
    a_crowd_is_counted_to_the_last_member,
    count_equals_rows_at_every_moment,
    every_answer_is_exact_among_many_callers,
    events_of_a_crowd_add_up_to_the_rows,
}
