//! Many callers at once: every like is counted or refused, every answer is exact, and no reader ever sees a difference.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use madang_board::{ArticleId, MemberId};
use madang_kernel::Id;
use madang_like::LikeState;
use tokio::task::JoinSet;

use super::LikeStoreHarness;
use super::site::{ARTICLE, Site, article};

const CALLERS: i64 = 32;
const CALLS_EACH: u64 = 30;
/// Few members and articles, so that callers meet.
const MEMBERS: u64 = 12;
const ARTICLES: u64 = 3;

pub(super) async fn a_crowd_is_counted_to_the_last_member<H: LikeStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness));
    let mut callers = JoinSet::new();
    for caller in 0..H::TASKS {
        let site = Arc::clone(&site);
        callers.spawn(async move {
            let mut counts = Vec::new();
            for member in (1..=H::CROWD).filter(|member| member % H::TASKS == caller) {
                let answer = site.answer(article(), member, true).await;
                assert!(answer.changed && answer.state.liked);
                assert!(answer.committed.like_count >= answer.state.like_count);
                counts.push(answer.state.like_count);
            }
            counts
        });
    }
    let counts: Vec<u64> = callers.join_all().await.into_iter().flatten().collect();
    let crowd = H::CROWD as u64;
    assert_eq!(site.harness.count_and_rows(article()).await, (Some(crowd), crowd));
    assert_eq!(counts.into_iter().collect::<BTreeSet<_>>(), (1..=crowd).collect(), "everyone was told their own count");
    site.assert_sound().await;
}

pub(super) async fn count_equals_rows_at_every_moment<H: LikeStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness));
    let at_work = Arc::new(AtomicUsize::new(CALLERS as usize));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let (site, at_work) = (Arc::clone(&site), Arc::clone(&at_work));
        callers.spawn(async move {
            for call in 0..CALLS_EACH {
                let (article, member, liked) = random(caller as u64 * CALLS_EACH + call);
                site.answer(article, member, liked).await;
            }
            at_work.fetch_sub(1, Ordering::Relaxed);
        });
    }
    let mut looked = 0;
    while at_work.load(Ordering::Relaxed) > 0 || looked == 0 {
        for number in 0..ARTICLES {
            let (count, rows) = site.harness.count_and_rows(ArticleId::from_raw(ARTICLE + number as i64)).await;
            assert_eq!(count.unwrap_or(0), rows);
        }
        looked += 1;
    }
    callers.join_all().await;
    site.assert_sound().await;
}

pub(super) async fn every_answer_is_exact_among_many_callers<H: LikeStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness));
    let mut callers = JoinSet::new();
    // Each has members of their own, so each knows what their own answers must be.
    for member in 1..=CALLERS {
        let site = Arc::clone(&site);
        callers.spawn(async move {
            let mut likes = false;
            for call in 0..CALLS_EACH {
                let wish = random(member as u64 * CALLS_EACH + call).2;
                let answer = site.answer(article(), member, wish).await;
                assert_eq!((answer.changed, answer.state.liked), (wish != likes, wish));
                assert!(answer.state.like_count >= u64::from(wish));
                assert!(answer.state.like_count <= CALLERS as u64 - u64::from(!wish));
                likes = wish;
            }
            (member, likes)
        });
    }
    let ended = callers.join_all().await;
    let like_count = ended.iter().filter(|(_, likes)| *likes).count() as u64;
    for (member, liked) in ended {
        assert_eq!(site.state(article(), member).await, LikeState { liked, like_count });
    }
    site.assert_sound().await;
}

pub(super) async fn events_of_a_crowd_add_up_to_the_rows<H: LikeStoreHarness>(harness: H) {
    let site = Arc::new(Site::open(harness));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        let site = Arc::clone(&site);
        callers.spawn(async move {
            for call in 0..CALLS_EACH {
                let (_, member, liked) = random(caller as u64 * CALLS_EACH + call);
                site.answer(article(), member, liked).await;
            }
        });
    }
    callers.join_all().await;
    let mut likers: HashSet<MemberId> = HashSet::new();
    for (index, (envelope, likes)) in site.events().await.into_iter().enumerate() {
        assert_eq!(envelope.version, index as u64 + 1, "one version an event, in commit order");
        assert!(!(likes.liked.is_empty() && likes.unliked.is_empty()));
        assert!(likes.liked.iter().all(|member| likers.insert(*member)));
        assert!(likes.unliked.iter().all(|member| likers.remove(member)));
        assert_eq!(likes.like_count, likers.len() as u64);
    }
    let rows: HashSet<_> = site.members(article(), 5).await.into_iter().map(MemberId::from_raw).collect();
    assert_eq!(likers, rows);
}

/// A call that looks random and is the same in every run.
fn random(turn: u64) -> (ArticleId, i64, bool) {
    let bits = turn.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16;
    let article = ArticleId::from_raw(ARTICLE + (bits % ARTICLES) as i64);
    (article, 1 + ((bits >> 8) % MEMBERS) as i64, !(bits >> 20).is_multiple_of(3))
}
