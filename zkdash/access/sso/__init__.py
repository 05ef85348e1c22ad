"""Single sign-on: people whom an OpenID Connect provider or an LDAP directory vouches for.

What speaks to either (Authlib, ldap3) is an extra, imported only where the configuration asks for it.
"""
