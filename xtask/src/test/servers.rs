//! The real servers of a run: a stack of its own, which ends with it, whatever becomes of it.

use std::process::Command;

use anyhow::Result;

use crate::interrupt::Interrupt;
use crate::stack::Stack;

/// Tells suites that a missing server is a failure, not a reason to be left out.
const STACK: &str = "MADANG_TEST_STACK";

/// A stack that is taken down also when this task panics; after an orderly end there is nothing left to do.
pub(super) struct Servers(Stack);

impl Servers {
    /// Brings them up; what cannot be had is missing.
    pub(super) fn start(interrupt: &Interrupt) -> Result<Self> {
        Stack::for_tests(interrupt).map(Self)
    }

    /// The suites that cannot run, and why.
    pub(super) fn missing(&self) -> Vec<(&'static str, String)> {
        self.0.missing().iter().map(|missing| (missing.part.suites(), format!("{:#}", missing.why))).collect()
    }

    /// Tells a program where they are.
    pub(super) fn name_to(&self, command: &mut Command) {
        command.envs(self.0.environment());
        if self.0.missing().is_empty() {
            command.env(STACK, "1");
        } else {
            command.env_remove(STACK);
        }
    }

    /// Takes them down.
    pub(super) fn end(&self) -> Result<()> {
        self.0.down()
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        let _ = self.0.down();
    }
}
