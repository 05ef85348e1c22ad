"""Our files as they are served: by names that tell their content, modules' imports among them."""

from __future__ import annotations

from typing import ClassVar

from servestatic.storage import CompressedManifestStaticFilesStorage

# `import "./rows.js";` and `import { copy } from "./rows.js";`. Django's own patterns would also read the
# comments of other people's scripts.
_IMPORTS = (
    r'(?P<matched>import(?P<import>(?: \{[^}]*\} from)?) "(?P<url>\./[^"]+)";)',
    'import%(import)s "%(url)s";',
)


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # which tells no types
    """ServeStatic's, which also names what our modules import by its content: browsers may keep it."""

    patterns: ClassVar = (*CompressedManifestStaticFilesStorage.patterns, ("script/*.js", (_IMPORTS,)))
    max_post_process_passes = 12  # a module's name follows those of its imports, one step a pass
