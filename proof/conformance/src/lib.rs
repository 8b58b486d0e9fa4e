//! One suite a port, stamped at compile time on every adapter, so that no two of them drift apart.
//!
//! A module holds the harness that an adapter implements (how to make a fresh store) and the cases, each declared once
//! with [`suite!`]. That gives a generic function per case and an exported macro that stamps all of them as tests:
//!
//! ```ignore
//! madang_conformance::outbox_suite!(SqliteHarness);
//! ```

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

pub mod node_leases;
