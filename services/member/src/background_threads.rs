//! Threads of low priority for work that takes a core for a while: on a busy machine it gets what requests leave over, and
//! a flood of it cannot slow them down. A runtime's own threads cannot do that, since priority once given up does not
//! come back.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

/// How far the threads stand back: at 10, one of them gets a tenth of a core that a request wants too.
const NICENESS: i32 = 10;

type Job = Box<dyn FnOnce() + Send>;

/// A few threads, which end when this is dropped and its last job is done.
pub(crate) struct BackgroundThreads {
    /// Bounded by whoever hands in work.
    jobs: Sender<Job>,
}

impl BackgroundThreads {
    /// Starts so many threads.
    pub(crate) fn start(name: &str, count: usize) -> Self {
        let (jobs, waiting) = channel::<Job>();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..count.max(1) {
            let waiting = waiting.clone();
            let started = std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&waiting));
            if let Err(error) = started {
                tracing::error!("cannot start a thread for {name}: {error}");
            }
        }
        Self { jobs }
    }

    /// Runs a job; `None` when it panicked or no thread could take it.
    pub(crate) async fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (done, result) = oneshot::channel();
        // Whoever asked may have gone meanwhile.
        let job: Job = Box::new(move || drop(done.send(job())));
        self.jobs.send(job).ok()?;
        result.await.ok()
    }
}

fn work(waiting: &Mutex<Receiver<Job>>) {
    // On Linux a priority belongs to a thread. Elsewhere, or where it is forbidden, the work is done all the same.
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::debug!("cannot lower the priority of a background thread: {error}");
    }
    loop {
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // A job that panics must not take the thread with it; its asker is told.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_job_that_panics_is_told_and_the_thread_goes_on() {
        let threads = BackgroundThreads::start("test", 1);
        assert_eq!(threads.run(|| -> u8 { panic!("on purpose") }).await, None);
        assert_eq!(threads.run(|| 7).await, Some(7));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn jobs_run_at_low_priority_and_leave_others_theirs() {
        let threads = BackgroundThreads::start("test", 1);
        let own = || rustix::process::getpriority_process(None).unwrap();
        let before = own();
        assert_eq!(threads.run(own).await, Some((before + NICENESS).min(19)));
        assert_eq!(own(), before);
    }
}
