"""As whom and over what a broker is asked: TLS, and SASL by PLAIN, SCRAM and OAUTHBEARER."""
