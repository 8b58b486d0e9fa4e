//! A command's side of the control socket: sends the request, shows what comes back.

use std::io;
use std::path::Path;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use super::protocol::{ControlRequest, Ending, REPLY_MAX_BYTES, ReplyLine};
use super::socket::connect;
use crate::commands::output::OutputLine;

/// Why the server did not carry a command out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ControlError {
    /// Nobody listens; the holder of the directory may be starting, stopping, or another command.
    #[error("no server answers on the control socket")]
    NobodyListens(#[source] io::Error),
    /// The connection broke off; what was asked may or may not have happened.
    #[error(
        "the connection to the server was lost before the command ended, which may or may not have taken effect: {0}"
    )]
    BrokeOff(String),
    /// The server refused or failed; says why.
    #[error("{0}")]
    Failed(String),
}

/// Has the server of `data` carry a request out, handing each line to `show`; the command's exit code.
pub(crate) async fn ask(
    data: &Path,
    request: &ControlRequest,
    mut show: impl FnMut(OutputLine),
) -> Result<u8, ControlError> {
    let mut stream = connect(data).await.map_err(ControlError::NobodyListens)?;
    let broke_off = |error: io::Error| ControlError::BrokeOff(error.to_string());
    let mut bytes = serde_json::to_vec(request).map_err(|error| ControlError::Failed(error.to_string()))?;
    bytes.push(b'\n');
    stream.write_all(&bytes).await.map_err(broke_off)?;
    let mut read = BufReader::new(stream);
    loop {
        let mut line = Vec::new();
        (&mut read).take(REPLY_MAX_BYTES).read_until(b'\n', &mut line).await.map_err(broke_off)?;
        if line.is_empty() {
            return Err(ControlError::BrokeOff("the connection was closed".to_owned()));
        }
        match serde_json::from_slice(&line).map_err(|error| ControlError::BrokeOff(error.to_string()))? {
            ReplyLine::Line(line) => show(line),
            ReplyLine::End(Ending::Exit(code)) => return Ok(code),
            ReplyLine::End(Ending::Failed(reason)) => return Err(ControlError::Failed(reason)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ControlServer, listen};
    use super::*;
    use tokio_util::sync::CancellationToken;

    const LIST: ControlRequest = ControlRequest::DlqList { limit: 1 };

    fn server() -> ControlServer {
        ControlServer::new(Box::new(|request, output| {
            Box::pin(async move {
                match request {
                    ControlRequest::DlqList { .. } => {
                        output.text("one").await.unwrap();
                        output.progress("counting", 1, 2);
                        output.finding("two").await.unwrap();
                        Ending::Exit(1)
                    }
                    ControlRequest::DlqShow { .. } => std::future::pending().await,
                    _ => Ending::Failed("not today".to_owned()),
                }
            })
        }))
    }

    async fn with_server<T>(test: impl AsyncFnOnce(&Path, CancellationToken) -> T) -> T {
        let data = tempfile::tempdir().unwrap();
        let (server, listener) = (server(), listen(data.path()).unwrap());
        let stop = CancellationToken::new();
        let asked = async {
            let answer = test(data.path(), stop.clone()).await;
            stop.cancel();
            answer
        };
        tokio::join!(server.run(listener, stop.clone()), asked).1
    }

    #[tokio::test]
    async fn lines_come_in_order_and_the_exit_code_last() {
        with_server(async |data, _| {
            let mut lines = Vec::new();
            assert_eq!(ask(data, &LIST, |line| lines.push(line)).await.unwrap(), 1);
            let progress = OutputLine::Progress { step: "counting".to_owned(), done: 1, total: 2 };
            assert_eq!(lines, [OutputLine::Text("one".to_owned()), progress, OutputLine::Finding("two".to_owned())]);
        })
        .await;
    }

    #[tokio::test]
    async fn garbage_and_endless_lines_are_refused_and_the_server_goes_on() {
        with_server(async |data, _| {
            for bytes in [b"{}\n".to_vec(), b"\xff\xfe\n".to_vec(), vec![b'x'; 100_000]] {
                let mut stream = connect(data).await.unwrap();
                // The server may hang up before it has read everything; that is a refusal as well.
                let _ = stream.write_all(&bytes).await;
                let mut answer = String::new();
                if stream.read_to_string(&mut answer).await.is_ok() {
                    assert!(answer.contains("failed"), "{answer}");
                }
            }
            assert_eq!(ask(data, &LIST, |_| {}).await.unwrap(), 1);
        })
        .await;
    }

    #[tokio::test]
    async fn a_stopping_server_says_so_to_a_command_under_way() {
        with_server(async |data, stop| {
            let request = ControlRequest::DlqShow { id: "1".to_owned() };
            let (answer, ()) = tokio::join!(ask(data, &request, |_| {}), async { stop.cancel() });
            // Cancelled before or after the connection was accepted: either way the command is told.
            assert!(matches!(answer, Err(ControlError::Failed(_) | ControlError::BrokeOff(_))), "{answer:?}");
        })
        .await;
    }
}
