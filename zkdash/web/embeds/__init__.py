"""Views of a cluster inside other people's pages: each behind a link of its own, without cookies."""
