//! A command or script on keys of one hash tag, and the tag itself.

use redis::{Arg, Cmd, ToRedisArgs};

/// A Lua script, known to servers by its hash.
pub struct Script {
    code: &'static str,
    hash: String,
}

impl Script {
    /// A script with this text.
    pub fn new(code: &'static str) -> Self {
        Self { code, hash: redis::Script::new(code).get_hash().to_owned() }
    }
}

/// Keys that live on one node of a cluster: all of them carry the tag.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(String);

impl Tag {
    /// The tag of a group of keys; `group` must hold no brace.
    pub fn new(group: impl std::fmt::Display) -> Self {
        Self(format!("{{{group}}}"))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// A command for the node that holds a tag.
pub struct Command {
    pub(crate) tag: Tag,
    pub(crate) cmd: Cmd,
    script: Option<&'static Script>,
}

impl Command {
    /// A plain command.
    pub fn new(tag: Tag, name: &str) -> Self {
        Self { tag, cmd: redis::cmd(name), script: None }
    }

    /// A script with its keys.
    pub fn script<K: ToRedisArgs>(tag: Tag, script: &'static Script, keys: &[K]) -> Self {
        let mut cmd = redis::cmd("EVALSHA");
        cmd.arg(&script.hash).arg(keys.len());
        for key in keys {
            cmd.arg(key);
        }
        Self { tag, cmd, script: Some(script) }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl ToRedisArgs) -> Self {
        self.cmd.arg(arg);
        self
    }

    /// One more argument, in a loop.
    pub fn push(&mut self, arg: impl ToRedisArgs) {
        self.cmd.arg(arg);
    }

    /// The same with the script's text, for a server that does not know it; `None` if it is no script.
    pub(crate) fn with_text(&self) -> Option<Self> {
        let script = self.script?;
        let mut cmd = redis::cmd("EVAL");
        cmd.arg(script.code);
        for arg in self.cmd.args_iter().skip(2) {
            if let Arg::Simple(bytes) = arg {
                cmd.arg(bytes);
            }
        }
        Some(Self { tag: self.tag.clone(), cmd, script: None })
    }
}
