//! Which composition a site that a test asks for runs on: that of the test target, or the one that the environment names.

/// What stands behind the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Composition {
    /// One process and its data directory.
    Embedded,
    /// Servers, and one process with every role.
    Cluster,
    /// Servers, and seven processes of one role each behind nginx.
    Seven,
}

impl Composition {
    /// The one to test: `MADANG_TEST_COMPOSITION`, otherwise the target's.
    pub(crate) fn chosen() -> Self {
        match std::env::var("MADANG_TEST_COMPOSITION").as_deref() {
            Err(_) | Ok("") => crate::COMPOSITION,
            Ok("embedded") => Self::Embedded,
            Ok("cluster") => Self::Cluster,
            Ok("seven") => Self::Seven,
            Ok(other) => panic!("MADANG_TEST_COMPOSITION is embedded, cluster or seven, not {other:?}"),
        }
    }
}
