//! One suite a port, stamped at compile time on every adapter, so that no two of them drift apart.
//!
//! A module holds the harness that an adapter implements (how to make a fresh store) and the cases, each declared once
//! with [`suite!`]. That gives a generic function per case and an exported macro that stamps all of them as tests:
//!
//! ```ignore
//! madang_conformance::outbox_suite!(SqliteHarness);
//! ```

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_lossless,
    reason = "a case counts to thousands, with numbers of its own"
)]
#![allow(clippy::unwrap_used, reason = "a case fails by panicking, as a test does")]

/// Declares the cases of a port and the macro that stamps them on an adapter. `$` comes first because the exported macro
/// needs one of its own.
macro_rules! suite {
    ($d:tt $name:ident, $module:ident, $harness:path;
     $($(#[$doc:meta])* async fn $case:ident($fresh:ident) $body:block)*) => {
        $(
            $(#[$doc])*
            pub async fn $case<H: $harness>() {
                let $fresh = H::fresh().await;
                $body
            }
        )*

        /// Stamps every case of this port on an adapter, one test each.
        #[macro_export]
        macro_rules! $name {
            ($d harness:ty) => {
                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $case() {
                        $crate::$module::$case::<$d harness>().await;
                    }
                )*
            };
        }
    };
}

/// As [`suite!`], for a port whose cases fill several files: `$case` are functions in scope that take a fresh harness, each
/// listed once. They stay private, so one that nobody lists is dead code and does not pass the lints.
macro_rules! listed_suite {
    ($d:tt $name:ident, $module:ident, $harness:ident; $($case:ident),* $(,)?) => {
        /// The cases, each on a fresh harness; their names are the facts they state.
        #[allow(missing_docs, reason = "a sentence beside a name that is one would repeat it")]
        pub mod cases {
            $(
                pub async fn $case<H: super::$harness>() {
                    super::$case(H::fresh().await).await;
                }
            )*
        }

        /// Stamps every case of this port on an adapter, one test each.
        #[macro_export]
        macro_rules! $name {
            ($d harness:ty) => {
                $(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                    async fn $case() {
                        $crate::$module::cases::$case::<$d harness>().await;
                    }
                )*
            };
        }
    };
}

pub mod article_store;
pub mod comment_store;
pub mod dead_letters;
pub mod event_log;
pub mod hot_store;
pub mod inbox;
pub mod like_store;
pub mod live_views;
pub mod member_store;
pub mod membership;
pub mod moderation_store;
pub mod node_leases;
pub mod outbox;
pub mod read_model;
mod sample;
pub mod search_index;
pub mod view_store;
