"""Word: headings, lists, tables, links and notes."""

import io

from hermes_documents.markdown import from_html


def word(data: bytes) -> str:
    """The document as Markdown; of its pictures nothing."""
    import mammoth  # type: ignore[import-untyped]

    # What a document brings as its own map of styles says how it is shown, not what it says.
    html = mammoth.convert_to_html(io.BytesIO(data), convert_image=lambda _: [], include_embedded_style_map=False)
    return from_html(html.value) + "\n"
