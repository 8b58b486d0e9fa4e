//! What a site may set about its views.

use jiff::tz::TimeZone;

use crate::LiveLimits;

/// How often the loop that drives [`ViewService::flush_due`](crate::ViewService::flush_due) should call it.
pub const FLUSH_STEP_MS: u64 = 250;

/// Settings of the view service.
#[derive(Debug, Clone)]
pub struct ViewConfig {
    /// Entries of the ten-minute window, 8 bytes each.
    pub window_entries: usize,
    /// When live counts are written back, and how many may be live.
    pub live: LiveLimits,
    /// The site's time zone: at the end of its day everything is written back.
    pub time_zone: TimeZone,
}

impl Default for ViewConfig {
    fn default() -> Self {
        Self { window_entries: 1 << 21, live: LiveLimits::default(), time_zone: TimeZone::UTC }
    }
}
