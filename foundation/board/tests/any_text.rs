//! Whatever text comes from outside, it is read or refused: nothing here panics.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use madang_board::{ArticleId, MemberId, REASON_MAX_CHARS, Reason};
use madang_kernel::{Id, PageNumber, PageSize, Timestamp};
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_text_is_an_id_in_one_spelling_or_refused(text in prop_oneof!["(?s).{0,40}", "[0-9]{0,25}", "[+-]?[0-9]{1,19}"]) {
        if let Ok(id) = text.parse::<ArticleId>() {
            prop_assert!(id.raw() > 0);
            // Leading zeros are the one other spelling; the id is written without them.
            prop_assert_eq!(id.to_string(), text.trim_start_matches('0'));
        }
        let json = serde_json::to_string(&text).unwrap();
        prop_assert_eq!(serde_json::from_str::<MemberId>(&json).is_ok(), text.parse::<MemberId>().is_ok());
    }

    #[test]
    fn every_id_comes_back_from_its_text(raw in 1_i64..=i64::MAX) {
        let id = ArticleId::from_raw(raw);
        prop_assert_eq!(id.to_string().parse::<ArticleId>().unwrap(), id);
        prop_assert_eq!(serde_json::from_str::<ArticleId>(&serde_json::to_string(&id).unwrap()).unwrap(), id);
        prop_assert!(id.shard().number() < 64);
    }

    #[test]
    fn any_number_is_a_page_or_refused(number in any::<i64>()) {
        prop_assert_eq!(PageSize::new("limit", number).is_ok(), (1..=100).contains(&number));
        if let (Ok(page), Ok(size)) = (PageNumber::new("page", number), PageSize::new("limit", 100)) {
            prop_assert!(page.offset(size) < 100_000_000_000);
        }
    }

    #[test]
    fn any_text_is_a_moment_or_refused(text in prop_oneof!["(?s).{0,40}", "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{0,12}(Z|[+-][0-9:]{1,6})"]) {
        let json = serde_json::to_string(&text).unwrap();
        if let Ok(moment) = serde_json::from_str::<Timestamp>(&json) {
            let written = serde_json::to_string(&moment).unwrap();
            prop_assert_eq!(serde_json::from_str::<Timestamp>(&written).unwrap(), moment);
        }
    }

    #[test]
    fn any_text_is_a_reason_or_refused(text in "(?s).{0,600}") {
        if let Ok(reason) = Reason::required(&text) {
            let kept = reason.into_string();
            prop_assert!(!kept.is_empty() && kept.chars().count() <= REASON_MAX_CHARS);
        }
    }
}
