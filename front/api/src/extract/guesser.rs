//! What is known of whoever signs in: where from, on which device, with which program. Decides whose guess it is: a device's on
//! which the account signed in before, or a stranger's.

use std::convert::Infallible;
use std::net::IpAddr;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use madang_member::{Client, name_key};
use madang_server::{Guesser, client_address, device_note};

use crate::ApiError;
use crate::state::{MemberCalls, Shared};

/// Where a sign-in comes from, what its device shows, and what its program says of itself.
pub(crate) struct SignInFrom {
    address: IpAddr,
    device_note: Option<String>,
    agent: String,
}

impl FromRequestParts<Shared<MemberCalls>> for SignInFrom {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, api: &Shared<MemberCalls>) -> Result<Self, Infallible> {
        let address = client_address(&parts.extensions, &parts.headers, &api.policy.trusted_proxies);
        let agent = parts.headers.get(header::USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
        let (device_note, agent) = (device_note(&parts.headers).map(str::to_owned), agent.unwrap_or_default().into());
        Ok(Self { address, device_note, agent })
    }
}

impl SignInFrom {
    /// Whether a password of this name's account may be tried; the program, and its device if the account knows it.
    pub(crate) async fn admitted(self, api: &Shared<MemberCalls>, name: &str) -> Result<Client, ApiError> {
        let device = self.device_note.as_deref().and_then(|note| api.sessions.device(note, name));
        if let Some(limiter) = &api.policy.limiter {
            let guesser = device.map_or(Guesser::Stranger(self.address), |device| Guesser::Device(device.number()));
            limiter.admit_password_check(&name_key(name), guesser).await?;
        }
        Ok(Client { address: Some(self.address), device, agent: self.agent })
    }
}
