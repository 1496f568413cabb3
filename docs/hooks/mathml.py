r"""Turns the formulas of a page into MathML, which browsers draw without any script.

The extension arithmatex marks formulas, in pages and docstrings alike, as `\(...\)` and `\[...\]` inside
elements of class `arithmatex`; here the marked source is replaced.
"""

import html
import re

from latex2mathml.converter import convert

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_DISPLAYED = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)
_BAR = re.compile(r'<mo(?: stretchy="false")?>(?=(?:&#x0007C;|&#x02016;)</mo>)')


def on_page_content(page_html: str, **_) -> str:
    """Called by MkDocs with the HTML of every page."""
    page_html = _DISPLAYED.sub(lambda found: _mathml(found, "block"), page_html)
    return _INLINE.sub(lambda found: _mathml(found, "inline"), page_html)


def _mathml(found: re.Match[str], display: str) -> str:
    formula = convert(html.unescape(found[1]).strip(), display=display)
    # A bar is a fence here, as in |x|; browsers would give it the space of a relation.
    return _BAR.sub('<mo stretchy="false" lspace="0" rspace="0">', formula)
