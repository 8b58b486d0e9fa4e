//! A form that was sent: from our own pages or not at all, its fields, and whether it was made for the session it came
//! with.

use std::collections::HashMap;

use axum::RequestExt as _;
use axum::extract::{Form, FromRequest, Request};
use axum::http::StatusCode;
use madang_member::{Client, Session, name_key};
use madang_server::{Guesser, is_same_origin};

use crate::error::{Limit, OrRefuse as _, Refused, WebError};
use crate::state::{Shared, Web};
use crate::unsent::unsent;
use crate::visit::Visit;

/// The field that carries the token.
pub(crate) const TOKEN_FIELD: &str = "form_token";

/// A form.
pub(crate) struct Posted {
    /// Who sent it.
    pub(crate) visit: Visit,
    /// What it says.
    pub(crate) fields: Fields,
    /// The address that it was sent to.
    pub(crate) action: String,
}

/// The fields of a form. One that is missing is empty: forms are checked for what they say.
pub(crate) struct Fields(HashMap<String, String>);

/// Why a form that came from our pages belongs to no session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormSessionError {
    /// Nobody is signed in, or no longer.
    NotSignedIn,
    /// It was made for another session.
    OtherSession,
}

/// A form by which a member sees to their own account: signs out, ends sessions, changes the password. Not charged to what
/// they write, or whoever has stolen a session could keep its owner from ending it by using the limit up.
pub(crate) struct AccountForm(pub(crate) Posted);

impl FromRequest<Shared> for AccountForm {
    type Rejection = Refused;

    async fn from_request(request: Request, web: &Shared) -> Result<Self, Refused> {
        Posted::read(request, web).await.map(Self)
    }
}

impl FromRequest<Shared> for Posted {
    type Rejection = Refused;

    async fn from_request(request: Request, web: &Shared) -> Result<Self, Refused> {
        Self::read(request, web).await?.admitted(web).await
    }
}

impl Posted {
    async fn read(request: Request, web: &Shared) -> Result<Self, Refused> {
        let (parts, body) = request.into_parts();
        let visit = Visit::of(&parts, web).verified(web)?;
        let action = parts.uri.path().to_owned();
        if !is_same_origin(&parts.headers) {
            return Err(WebError::CrossSite.refuse(web, &visit));
        }
        match Request::from_parts(parts, body).extract::<Form<Vec<(String, String)>>, _>().await {
            Ok(Form(pairs)) => Ok(Self { visit, fields: Fields(pairs.into_iter().collect()), action }),
            Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                Err(WebError::TooLarge.refuse(web, &visit))
            }
            Err(_) => Err(WebError::NotUnderstood.refuse(web, &visit)),
        }
    }

    /// The form, unless its sender sent too many.
    async fn admitted(self, web: &Shared) -> Result<Self, Refused> {
        let (Some(limiter), Some(actor)) = (&web.site.policy.limiter, self.visit.actor()) else { return Ok(self) };
        match limiter.admit_write(actor.member_id).await {
            Ok(()) => Ok(self),
            Err(rejection) => Err(self.refuse(web, WebError::of_rejection(&rejection, Limit::Writes))),
        }
    }

    /// The refusal of the form, with the text that was typed.
    pub(crate) fn refuse(&self, web: &Web, error: WebError) -> Refused {
        error.refuse_with(web, &self.visit, unsent(self))
    }

    /// Whether a sign-in under this name may be tried, whoever sends it and is signed in as whom; the program, and its device
    /// if the account knows it.
    pub(crate) async fn admit_sign_in(&self, web: &Shared, name: &str) -> Result<Client, WebError> {
        let device = self.visit.device(web, name);
        let guesser = device.map_or(Guesser::Stranger(self.visit.address), |device| Guesser::Device(device.number()));
        self.admit_guess(web, name, guesser).await?;
        Ok(self.visit.client(device))
    }

    /// Whether the password of whoever is signed in may be asked for.
    pub(crate) async fn admit_own_password(&self, web: &Shared, session: &Session) -> Result<(), Refused> {
        let guesser = Guesser::Session(session.session_id);
        self.admit_guess(web, &session.actor.name, guesser).await.or_refuse(web, &self.visit)
    }

    async fn admit_guess(&self, web: &Shared, name: &str, guesser: Guesser) -> Result<(), WebError> {
        let Some(limiter) = &web.site.policy.limiter else { return Ok(()) };
        let admitted = limiter.admit_password_check(&name_key(name), guesser).await;
        admitted.map_err(|rejection| WebError::of_rejection(&rejection, Limit::Passwords))
    }

    /// Whether one more account may be made from where this came from.
    pub(crate) async fn admit_sign_up(&self, web: &Shared) -> Result<(), WebError> {
        let Some(limiter) = &web.site.policy.limiter else { return Ok(()) };
        let admitted = limiter.admit_sign_up(self.visit.address).await;
        admitted.map_err(|rejection| WebError::of_rejection(&rejection, Limit::SignUps))
    }

    /// The session that sent the form, if the form was made for it.
    pub(crate) fn session(&self) -> Result<&Session, FormSessionError> {
        let session = self.visit.session.as_ref().ok_or(FormSessionError::NotSignedIn)?;
        if self.visit.made(self.fields.text(TOKEN_FIELD)) { Ok(session) } else { Err(FormSessionError::OtherSession) }
    }
}

impl Fields {
    /// A field as it was typed.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Every field.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A text of several lines. Browsers send line ends as two characters, which nobody typed.
    pub(crate) fn lines(&self, name: &str) -> String {
        self.text(name).replace("\r\n", "\n")
    }

    /// A place on this site to go to; the front page for anything else.
    pub(crate) fn local_path(&self, name: &str) -> &str {
        local_path(self.text(name))
    }
}

/// The path if it leads to this site, whatever a browser makes of it.
pub(crate) fn local_path(text: &str) -> &str {
    let mut bytes = text.bytes();
    let is_local = bytes.next() == Some(b'/')
        && !matches!(bytes.next(), Some(b'/' | b'\\'))
        && text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_local { text } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_another_site() {
        for path in ["/", "/b/general?page=2#x", "/articles/1"] {
            assert_eq!(local_path(path), path);
        }
        for path in
            ["", "//evil", "/\\evil", "http://evil", "evil", "/a\r\nb", "/\t/evil", "/a\\b", "javascript:alert(1)"]
        {
            assert_eq!(local_path(path), "/", "{path:?}");
        }
    }
}
