//! The databases of a program that commits events: opened, followed and closed as one.

use std::convert::Infallible;
use std::ops::Deref;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::join_all;
use madang_kernel::Clock;
use madang_messaging::{AfterCommit, HandOver, OnError, Supervisor};

use crate::databases::{Databases, Tasks};
use crate::followers::Followers;
use crate::moving::look_after;
use crate::open::{OpenError, SetUp};
use crate::topology::Topology;
use crate::{Database, MysqlOptions, tls};

/// One database on all its servers, whose changes are events of type `E`. Clones share everything; what reads and writes
/// without events is in [`Databases`].
pub struct Mysql<E> {
    databases: Databases,
    followers: Followers<E>,
}

impl<E> Clone for Mysql<E> {
    fn clone(&self) -> Self {
        Self { databases: self.databases.clone(), followers: self.followers.clone() }
    }
}

impl<E> Deref for Mysql<E> {
    type Target = Databases;

    fn deref(&self) -> &Databases {
        &self.databases
    }
}

impl<E> Mysql<E> {
    /// Opens `database` on every server, creates and migrates it where needed, and learns from the servers which of them
    /// holds which shard. The shards of a server that cannot be reached are unavailable until it has come and been set up; one
    /// that turns out to belong to another topology then stays unavailable, and the log says so.
    pub async fn open(
        options: &MysqlOptions,
        database: impl Into<Database>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let topology = Topology::configured(options, &database.into())?;
        tls::is_possible(options)?;
        let mut set_ups = Vec::new();
        let mut are_there = Vec::new();
        // Servers that were added later are learned of from those of the configuration.
        while set_ups.len() < topology.placement().servers().len() {
            let new = set_ups.len()..topology.placement().servers().len();
            let new: Vec<SetUp> = new.map(|index| SetUp::new(Arc::clone(&topology), index)).collect();
            // All of them are tried, so that a start refuses for the same reason each time.
            let there = join_all(new.iter().map(SetUp::at_start)).await;
            are_there.extend(there.into_iter().collect::<Result<Vec<bool>, _>>()?);
            set_ups.extend(new);
        }
        let tasks = Arc::new(Tasks::new(Supervisor::new(topology.database.name())));
        topology.runs_in(Arc::downgrade(&tasks));
        tasks.with(|supervisor| {
            for (set_up, is_there) in set_ups.iter().zip(are_there) {
                set_up.run_in(supervisor, is_there);
            }
            let following = Arc::clone(&topology);
            supervisor.spawn("follow the shard map", OnError::Restart, move |stop| {
                Arc::clone(&following).follow(stop).map(Ok::<_, Infallible>)
            });
            let looking_after = Arc::clone(&topology);
            supervisor.spawn("look after shards on their way", OnError::Restart, move |stop| {
                look_after(Arc::clone(&looking_after), stop).map(Ok::<_, Infallible>)
            });
        });
        let databases = Databases::new(topology, clock, tasks);
        Ok(Self { databases, followers: Followers::default() })
    }

    /// Hands the messages of every commit to the relay of this database, at once and before anybody else learns of it.
    pub fn hand_over_to(&self, relay: HandOver) {
        self.followers.set_relay(relay);
    }

    /// Lets `follower` learn of the events of every commit, in commit order. Callers are answered after it; the next batch
    /// of their lane does not wait.
    pub fn after_commit(&self, follower: Arc<dyn AfterCommit<E>>) {
        self.followers.set_follower(follower);
    }

    /// Takes no more calls, commits those that wait, and closes every connection.
    pub async fn close(&self) {
        self.databases.close().await;
    }

    pub(crate) fn followers(&self) -> &Followers<E> {
        &self.followers
    }
}
