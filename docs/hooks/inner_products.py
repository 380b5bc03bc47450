"""MkDocs hook: ``<y, x>`` in prose is an inner product, not an HTML tag."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

BEFORE_HTML = 95
"""Python-Markdown looks for tags at 90, for code at 190."""


class InnerProducts(Extension):
    """Leave brackets with a comma between them as they are."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the pattern before that of tags."""
        md.inlinePatterns.register(_Plain(r"<([^<>\s][^<>\n]*,[^<>\n]*)>", md), "inner_product", BEFORE_HTML)


class _Plain(InlineProcessor):
    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: N802
        """Return the text with its brackets."""
        return self.md.htmlStash.store(f"&lt;{escape(m.group(1))}&gt;"), m.start(0), m.end(0)


def on_config(config: Any) -> Any:
    """Add the extension for pages and docstrings alike."""
    config.markdown_extensions.append(InnerProducts())
    return config
