"""A real OpenID Connect provider as a process of its own, of oidc-provider-mock: python oidc_provider.py.

It prints its port of 127.0.0.1. Clients register first; redirect addresses, secrets and, beyond what the
package has, PKCE are checked. What a user's claims say goes into the ID token last, so that a test can make
it lie about anything; a user with the claim "forged" has one that is signed by a key that nobody published.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import oidc_provider_mock
from authlib.oauth2.rfc7636 import CodeChallenge
from joserfc.jwk import RSAKey
from oidc_provider_mock import _app
from werkzeug.serving import make_server

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
CHALLENGES: dict[str, tuple[str | None, str | None]] = {}
ANOTHER = RSAKey.generate_key(2048, private=True).as_dict(private=True)


class Challenge(CodeChallenge):
    def validate_code_challenge(self, grant: Any, redirect_uri: str) -> None:
        if grant.request.payload.data.get("code_challenge_method") != "S256":
            raise _app.authlib.oauth2.rfc6749.InvalidRequestError("PKCE by S256 is needed")
        super().validate_code_challenge(grant, redirect_uri)

    def get_authorization_code_challenge(self, authorization_code: Any) -> str | None:
        return CHALLENGES[authorization_code.code][0]

    def get_authorization_code_challenge_method(self, authorization_code: Any) -> str | None:
        return CHALLENGES[authorization_code.code][1]


class Grant(_app.AuthorizationCodeGrant):
    def __init__(self, request: Any, server: Any) -> None:
        super().__init__(request, server)
        Challenge()(self)

    def save_authorization_code(self, code: str, request: Any) -> None:
        data = request.payload.data
        CHALLENGES[code] = data.get("code_challenge"), data.get("code_challenge_method")
        super().save_authorization_code(code, request)


class IdTokens(_app.OpenIDCode):
    def encode_id_token(self, token: Any, request: Any) -> Any:
        self.forged = "forged" in request.user.claims
        return super().encode_id_token(token, request)

    def get_jwt_config(self, grant: Any, client: object = None) -> Any:
        config = super().get_jwt_config(grant, client)
        return {**config, "key": ANOTHER} if self.forged else config


_app.AuthorizationCodeGrant = Grant
_app.OpenIDCode = IdTokens
server = make_server(
    "127.0.0.1",
    0,
    oidc_provider_mock.app(require_client_registration=True, require_nonce=True),
    threaded=True,
)
print(server.server_port, flush=True)  # noqa: T201 - whoever started it reads this
sys.stdout.close()
server.serve_forever()
