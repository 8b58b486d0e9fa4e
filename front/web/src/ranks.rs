//! Lists by activity on pages: the tabs that choose the order, and places as cursors in addresses.

use madang_article_read::Rank;
use madang_kernel::Timestamp;
use maud::{Markup, html};

use crate::preferences::Order;
use crate::visit::Visit;

/// A place as it stands in an address.
pub(crate) fn rank_cursor(Rank { at, article_id }: Rank) -> String {
    format!("{}-{article_id}", at.as_millis())
}

/// The place that an address names, if it names one.
pub(crate) fn parse_rank(text: &str) -> Option<Rank> {
    let (at, article) = text.split_once('-')?;
    Some(Rank { at: Timestamp::from_millis(at.parse().ok()?), article_id: article.parse().ok()? })
}

/// Newest or active, which is remembered; and back to `path`.
pub(crate) fn order_tabs(visit: &Visit, chosen: Order, path: &str) -> Markup {
    let t = visit.texts();
    html! {
        form.choices.tabs method="post" action="/preferences" {
            input type="hidden" name="return" value=(path);
            fieldset {
                legend.vh { (t.order) }
                @for (order, name) in [(Order::Newest, t.newest), (Order::Active, t.active)] {
                    button.link name="order" value=(order.code()) aria-pressed=(chosen == order) { (name) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use madang_board::ArticleId;
    use madang_kernel::Id;

    use super::*;

    #[test]
    fn a_place_survives_its_address() {
        let rank = Rank { at: Timestamp::from_millis(1_750_000_000_123), article_id: ArticleId::from_raw(77) };
        assert_eq!(parse_rank(&rank_cursor(rank)), Some(rank));
        for text in ["", "-", "77", "x-77", "1-x", "1--2"] {
            assert_eq!(parse_rank(text), None, "{text}");
        }
    }
}
