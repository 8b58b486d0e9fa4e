//! Dead letters: kept as they came, listed in pages, removed once.

use std::sync::Arc;

use madang_messaging::{DeadLetterId, DeadLetters, EventLog};

use crate::sample::{message_on, numbers};

/// Dead letters with none in it, and the log through which they come.
#[async_trait::async_trait]
pub trait DeadLettersHarness: Send + Sync + Sized {
    /// A fresh store.
    async fn fresh() -> Self;
    /// The dead letters.
    fn dead_letters(&self) -> &dyn DeadLetters;
    /// The log.
    fn log(&self) -> Arc<dyn EventLog>;
}

async fn die(log: &dyn EventLog, count: i64) {
    let letters: Vec<_> = (1..=count).map(|number| message_on("sample.readers.dlq", number, "a")).collect();
    log.publish(&letters).await.unwrap();
}

suite! { $ dead_letters_suite, dead_letters, DeadLettersHarness;
    /// Pages of a list neither repeat nor skip a letter.
    async fn pages_neither_repeat_nor_skip(harness) {
        die(&*harness.log(), 25).await;
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = harness.dead_letters().list(after.as_ref(), 10).await.unwrap();
            assert!(page.len() <= 10);
            let Some(last) = page.last() else { break };
            after = Some(last.id.clone());
            seen.extend(numbers(page.iter().map(|letter| &letter.message)));
        }
        seen.sort_unstable();
        assert_eq!(seen, (1..=25).collect::<Vec<_>>());
        assert_eq!(harness.dead_letters().count().await.unwrap(), 25);
    }

    /// A letter is found under the name that the list gave it.
    async fn a_letter_is_found_by_its_name(harness) {
        die(&*harness.log(), 2).await;
        let listed = harness.dead_letters().list(None, 10).await.unwrap();
        for letter in listed {
            assert_eq!(harness.dead_letters().find(&letter.id).await.unwrap(), Some(letter));
        }
    }

    /// A letter is removed once; the others stay.
    async fn a_letter_is_removed_once(harness) {
        die(&*harness.log(), 2).await;
        let letters = harness.dead_letters().list(None, 10).await.unwrap();
        assert!(harness.dead_letters().remove(&letters[0].id).await.unwrap());
        assert!(!harness.dead_letters().remove(&letters[0].id).await.unwrap());
        assert_eq!(harness.dead_letters().find(&letters[0].id).await.unwrap(), None);
        assert_eq!(harness.dead_letters().list(None, 10).await.unwrap(), letters[1..]);
    }

    /// A name that no letter has is an empty answer, whatever it looks like.
    async fn an_unknown_name_is_no_error(harness) {
        die(&*harness.log(), 1).await;
        for name in ["", "0", "-1", "999999", "99999999999999999999999", "a/b", "'; --", "💀"] {
            let id = DeadLetterId(name.to_owned());
            assert_eq!(harness.dead_letters().find(&id).await.unwrap(), None, "{name}");
            assert!(!harness.dead_letters().remove(&id).await.unwrap(), "{name}");
        }
        assert_eq!(harness.dead_letters().count().await.unwrap(), 1);
    }
}
