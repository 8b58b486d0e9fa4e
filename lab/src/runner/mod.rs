//! The runner: starts the programs, restarts what died, breaks them as a seed has it, drives load, keeps its own history of
//! what was acknowledged, and looks at everything once it is quiet.

pub mod clients;
pub mod faults;
pub mod fleet;
pub mod observe;
pub mod owners;
pub mod proxy;
pub mod readers;
mod record;
pub mod storm;
pub mod system;

pub use clients::{Clients, History};
pub use faults::Faults;
pub use fleet::{Fleet, Spec};
pub use proxy::Proxy;
pub use storm::Storm;
pub use system::System;
