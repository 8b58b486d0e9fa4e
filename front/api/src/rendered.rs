//! Answers kept as bytes for a moment, so that what everybody reads is rendered a few times a second and not once for each
//! reader. An answer is handed out only while nothing was merged into the query model since before it was made: whoever
//! wrote something reads it.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use axum::http::HeaderValue;
use bytes::Bytes;
use madang_board::{ArticleId, BoardId};
use madang_kernel::{PageNumber, PageSize};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// View counts change without a merge, so an answer gets old by itself. Where answers are kept, the owner of views is in the
/// same process and nearly always has the count at hand, so this is all that it is late.
const KEPT: Duration = Duration::from_millis(1_000);
/// Longer answers are rendered each time.
const ANSWER_BYTES_MAX: usize = 64 * 1_024;
/// All answers together.
const BUDGET_BYTES: u64 = 32 * 1_024 * 1_024;
/// About how many that are; only the cache's own book-keeping depends on it.
const TYPICAL_ANSWERS: usize = 8_192;
/// Questions whose traces are kept, 4 bytes each.
const TRACES: usize = 8_192;
/// What an answer weighs besides its bytes.
const OVERHEAD_BYTES: u64 = 256;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    /// One article.
    Article(ArticleId),
    /// A numbered page of a board.
    Page(BoardId, PageNumber, PageSize),
    /// A step down a board.
    Scroll(BoardId, Option<ArticleId>, PageSize),
}

/// An answer as it goes out.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The body.
    pub(crate) body: Bytes,
    /// Its entity tag, where it has one.
    pub(crate) tag: Option<HeaderValue>,
    generation: u64,
    made: Instant,
}

/// The answers of the last moment.
pub struct Rendered {
    answers: Cache<Asked, Arc<Answer>, ByBytes>,
    /// Traces of what was asked for lately: an answer is kept only for what is asked for again, so that a thousand readers
    /// of a thousand old articles push nothing out.
    traces: Box<[AtomicU32]>,
    hasher: RandomState,
}

/// Makes an answer of the state of the model at the moment it was created.
pub(crate) struct Making {
    asked: Asked,
    generation: Option<u64>,
}

impl Default for Rendered {
    fn default() -> Self {
        Self {
            answers: Cache::with_weighter(TYPICAL_ANSWERS, BUDGET_BYTES, ByBytes),
            traces: (0..TRACES).map(|_| AtomicU32::new(0)).collect(),
            hasher: RandomState::new(),
        }
    }
}

impl Rendered {
    /// The answer if it is still good; otherwise how to make one. `generation` says how often the model was merged into;
    /// a model that cannot say keeps no answers. To be called before the model is read.
    pub(crate) fn find(&self, asked: Asked, generation: Option<u64>) -> Result<Arc<Answer>, Making> {
        let good = |answer: &Arc<Answer>| Some(answer.generation) == generation && answer.made.elapsed() < KEPT;
        match self.answers.get(&asked).filter(good) {
            Some(answer) => Ok(answer),
            None => Err(Making { asked, generation }),
        }
    }

    /// Keeps an answer for the next who asks.
    pub(crate) fn keep(&self, making: Making, body: Vec<u8>, tag: Option<HeaderValue>) -> Arc<Answer> {
        let Making { asked, generation } = making;
        let generation_made = generation.unwrap_or_default();
        let answer = Arc::new(Answer { body: body.into(), tag, generation: generation_made, made: Instant::now() });
        if generation.is_some() && answer.body.len() <= ANSWER_BYTES_MAX && self.is_asked_again(&asked) {
            self.answers.insert(asked, Arc::clone(&answer));
        }
        answer
    }

    /// Whether the last question that left its trace here was the same.
    fn is_asked_again(&self, asked: &Asked) -> bool {
        let hash = self.hasher.hash_one(asked);
        // Never 0, which is no trace.
        let trace = (hash >> 32) as u32 | 1;
        self.traces[hash as usize % TRACES].swap(trace, Ordering::Relaxed) == trace
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<Asked, Arc<Answer>> for ByBytes {
    fn weight(&self, _: &Asked, answer: &Arc<Answer>) -> u64 {
        OVERHEAD_BYTES + answer.body.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use madang_kernel::Id;

    use super::*;

    fn asked(raw: i64) -> Asked {
        Asked::Article(ArticleId::from_raw(raw))
    }

    /// Asked for twice, because only what is asked for again is kept.
    fn make(rendered: &Rendered, raw: i64, generation: Option<u64>, body: &str) {
        for _ in 0..2 {
            let Err(making) = rendered.find(asked(raw), generation) else { panic!("kept already") };
            rendered.keep(making, body.as_bytes().to_vec(), None);
        }
    }

    #[test]
    fn an_answer_is_good_until_something_is_merged() {
        let rendered = Rendered::default();
        make(&rendered, 1, Some(7), "one");
        assert_eq!(rendered.find(asked(1), Some(7)).ok().unwrap().body, "one");
        assert!(rendered.find(asked(2), Some(7)).is_err(), "another article");
        assert!(rendered.find(asked(1), Some(8)).is_err(), "something was merged");
        assert!(rendered.find(asked(1), None).is_err(), "nobody knows whether something was");
    }

    #[test]
    fn only_what_is_asked_for_again_is_kept() {
        let rendered = Rendered::default();
        let once = rendered.find(asked(1), Some(1)).err().unwrap();
        rendered.keep(once, b"one".to_vec(), None);
        assert!(rendered.find(asked(1), Some(1)).is_err());
        assert_eq!(rendered.answers.len(), 0);
    }

    #[test]
    fn a_model_that_counts_no_merges_keeps_no_answers() {
        let rendered = Rendered::default();
        make(&rendered, 1, None, "one");
        assert!(rendered.find(asked(1), None).is_err());
        assert!(rendered.find(asked(1), Some(0)).is_err());
    }

    #[test]
    fn long_answers_and_many_answers_fill_no_memory() {
        let rendered = Rendered::default();
        make(&rendered, 1, Some(1), &"x".repeat(ANSWER_BYTES_MAX + 1));
        assert!(rendered.find(asked(1), Some(1)).is_err());
        for raw in 2..2_000 {
            make(&rendered, raw, Some(1), &"x".repeat(ANSWER_BYTES_MAX));
        }
        assert!(rendered.answers.weight() <= BUDGET_BYTES);
    }
}
