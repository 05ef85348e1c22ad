"""A real LDAP server as a process of its own, of ldaptor: python ldap_server.py <ldif> <certificate and key>.

It prints its two ports of 127.0.0.1, of ldap:// (with STARTTLS) and of ldaps://. As RFC 4513 has it, and
many servers do, a bind with a name but no password succeeds.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ldaptor.inmemory import fromLDIFFile
from ldaptor.interfaces import IConnectedLDAPEntry
from ldaptor.protocols import pureldap
from ldaptor.protocols.ldap.ldapserver import LDAPServer
from twisted.internet import reactor as _reactor
from twisted.internet import ssl
from twisted.internet.protocol import ServerFactory
from twisted.python.components import registerAdapter

reactor: Any = _reactor


class Server(LDAPServer):
    tls: Any = None

    def handle_LDAPBindRequest(self, request: Any, controls: Any, reply: Any) -> Any:  # noqa: N802
        if request.dn and not request.auth:
            self.boundUser = None
            return pureldap.LDAPBindResponse(resultCode=0)
        return super().handle_LDAPBindRequest(request, controls, reply)

    def handle_LDAPExtendedRequest(self, request: Any, controls: Any, reply: Any) -> Any:  # noqa: N802
        if request.requestName != pureldap.LDAPStartTLSRequest.oid:
            return super().handle_LDAPExtendedRequest(request, controls, reply)
        done = pureldap.LDAPExtendedResponse(resultCode=0, responseName=pureldap.LDAPStartTLSRequest.oid)
        reply(done)
        self.transport.startTLS(self.tls)
        return None


class Factory(ServerFactory):
    protocol = Server

    def __init__(self, tree: Any) -> None:
        self.tree = tree


def serve(tree: Any) -> None:
    registerAdapter(lambda factory: factory.tree, Factory, IConnectedLDAPEntry)
    factory = Factory(tree)
    plain = reactor.listenTCP(0, factory, interface="127.0.0.1")
    safe = reactor.listenSSL(0, factory, Server.tls, interface="127.0.0.1")
    print(plain.getHost().port, safe.getHost().port, flush=True)  # noqa: T201 - whoever started it reads this


ldif, pem = map(Path, sys.argv[1:])
Server.tls = ssl.PrivateCertificate.loadPEM(pem.read_bytes()).options()
with ldif.open("rb") as file:
    fromLDIFFile(file).addCallback(serve)
    reactor.run()
