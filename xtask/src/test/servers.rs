//! The real servers of a run: a stack of its own, which ends with it, whatever becomes of it.

use std::process::Command;

use anyhow::Result;

use crate::interrupt::Interrupt;
use crate::stack::Stack;

/// A stack that is taken down also when this task panics; after an orderly end there is nothing left to do.
pub(super) struct Servers(Stack);

impl Servers {
    /// Brings all of them up, or fails.
    pub(super) fn start(interrupt: &Interrupt) -> Result<Self> {
        Stack::for_tests(interrupt).map(Self)
    }

    /// Tells a program where they are.
    pub(super) fn name_to(&self, command: &mut Command) {
        command.envs(self.0.environment());
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
