//! Adapters joined as the app joins them, since adapters do not know one another: rankings and live views in Redis over a
//! store that is durable. All of it is in `tests/`, and runs on real servers.
