//! The server's side of the control socket: reads a request, runs it, streams what it says.

use std::io;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::protocol::{ControlRequest, Ending, REQUEST_MAX_BYTES, ReplyLine};
use crate::commands::output::Output;

/// Commands at the same time; more wait to be accepted.
const COMMANDS_MAX: usize = 8;
/// How long a command may take to say what it wants.
const REQUEST_MS: u64 = 5_000;
/// How long a command may leave a line unread before it is given up.
const LINE_MS: u64 = 60_000;
/// How long accepting rests after the system refused, out of file descriptors say.
const ACCEPT_REST_MS: u64 = 200;

/// What carries a request out.
pub(crate) type Executor = Box<dyn Fn(ControlRequest, Output) -> BoxFuture<'static, Ending> + Send + Sync>;

/// Answers commands until it is told to stop.
pub(crate) struct ControlServer {
    execute: Executor,
}

impl ControlServer {
    /// A server that has its requests carried out by `execute`.
    pub(crate) fn new(execute: Executor) -> Self {
        Self { execute }
    }

    /// Accepts commands until `stop`; those under way are then told that the server is going.
    pub(crate) async fn run(&self, listener: UnixListener, stop: CancellationToken) {
        let mut commands = FuturesUnordered::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(()) = commands.next() => {}
                accepted = listener.accept(), if commands.len() < COMMANDS_MAX => match accepted {
                    Ok((stream, _)) => commands.push(self.answer(stream, &stop)),
                    Err(error) => {
                        warn!("control socket: cannot accept a command, trying again in {ACCEPT_REST_MS} ms: {error}");
                        tokio::time::sleep(Duration::from_millis(ACCEPT_REST_MS)).await;
                    }
                }
            }
        }
        // Closed first: whoever connected and was not yet accepted is hung up on, instead of waiting for ever.
        drop(listener);
        while commands.next().await.is_some() {}
    }

    async fn answer(&self, stream: UnixStream, stop: &CancellationToken) {
        if let Err(error) = self.exchange(stream, stop).await {
            debug!("control socket: a command disconnected before it ended: {error}");
        }
    }

    async fn exchange(&self, stream: UnixStream, stop: &CancellationToken) -> io::Result<()> {
        let (read, mut write) = stream.into_split();
        let mut read = BufReader::new(read);
        let ending = match read_request(&mut read).await {
            Ok(request) => self.perform(request, &mut read, &mut write, stop).await?,
            Err(problem) => Ending::Failed(problem),
        };
        send(&mut write, &ReplyLine::End(ending)).await
    }

    async fn perform(
        &self,
        request: ControlRequest,
        read: &mut BufReader<OwnedReadHalf>,
        write: &mut OwnedWriteHalf,
        stop: &CancellationToken,
    ) -> io::Result<Ending> {
        info!(command = request.name(), "control socket: running `madang {}`", request.name());
        let (output, mut lines) = Output::channel();
        let mut work = (self.execute)(request, output);
        let mut beyond = [0];
        let ending = loop {
            tokio::select! {
                Some(line) = lines.recv() => send(write, &ReplyLine::Line(line)).await?,
                ending = &mut work => break ending,
                () = stop.cancelled() => break Ending::Failed("the server is shutting down: run the command again when it has stopped".to_owned()),
                // The asking process was interrupted: what it wanted stops with it.
                _ = read.read(&mut beyond) => return Err(io::ErrorKind::ConnectionAborted.into()),
            }
        };
        // Dropping the work drops its output, so that the loop ends with its last line.
        drop(work);
        while let Some(line) = lines.recv().await {
            send(write, &ReplyLine::Line(line)).await?;
        }
        Ok(ending)
    }
}

async fn read_request(read: &mut BufReader<OwnedReadHalf>) -> Result<ControlRequest, String> {
    let mut line = Vec::new();
    let mut bounded = read.take(REQUEST_MAX_BYTES);
    match timeout(Duration::from_millis(REQUEST_MS), bounded.read_until(b'\n', &mut line)).await {
        Err(_) => Err(format!("the server received no request within {REQUEST_MS} ms")),
        Ok(Err(error)) => Err(format!("the server cannot read the request: {error}")),
        Ok(Ok(_)) if line.last() != Some(&b'\n') => {
            Err(format!("the request is not one line of at most {REQUEST_MAX_BYTES} bytes"))
        }
        Ok(Ok(_)) => serde_json::from_slice(&line).map_err(|error| {
            format!(
                "the server does not understand the command, perhaps because it is another version of madang: {error}"
            )
        }),
    }
}

async fn send(write: &mut OwnedWriteHalf, line: &ReplyLine) -> io::Result<()> {
    let mut bytes = serde_json::to_vec(line)?;
    bytes.push(b'\n');
    timeout(Duration::from_millis(LINE_MS), write.write_all(&bytes)).await.map_err(|_| io::ErrorKind::TimedOut)?
}
