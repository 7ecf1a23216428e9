"""What comes in otherwise than by keys: dropped files, the clipboard, an editor. And a look at what is in a chip."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_platform_tui.composer.chips import ROOM, START, Chip, Chips
from hermes_platform_tui.composer.clean import plain
from hermes_platform_tui.composer.field import Field
from hermes_platform_tui.composer.pictures import LARGEST, Refused, may_be_paths, picture, read_pictures

if TYPE_CHECKING:
    from hermes_core.types import Blob
    from hermes_platform_tui.composer.composer import Composer
    from hermes_platform_tui.composer.viewer import PasteChoice

__all__ = ["Attachments", "Refused"]

PATIENCE = 2.0  # seconds that a disk has to say whether a path is a picture


class Attachments:
    """Brings things into the field. What cannot be brought in is told in one notice."""

    def __init__(self, composer: "Composer", field: Field, chips: Chips) -> None:
        self._composer, self._field, self._chips = composer, field, chips
        self.editing = False

    def mark(self, blob: "Blob") -> str:
        """The mark of a new chip. Raises Refused."""
        size = len(blob.data) if blob.data is not None else _size(blob.path)
        if size > LARGEST:
            raise Refused(f"{blob.name or 'What is attached'} is larger than {LARGEST // 1_000_000} MB.")
        if blob.data is not None and blob.media_type.startswith("image/"):
            blob = picture(blob.data, blob.name)
        return self._chips.attach(blob, size)

    async def take_dropped(self, text: str) -> bool:
        """Attach the pictures whose paths were pasted. Undo brings the paths back."""
        if not may_be_paths(text):
            return False
        try:
            async with asyncio.timeout(PATIENCE):
                blobs = await asyncio.to_thread(read_pictures, text)
        except Refused as refused:
            self._composer.tell(str(refused))
            return False
        except (OSError, TimeoutError):
            return False  # a path that cannot be read is text
        if blobs:
            self._field.put(text)
            self._field.put(" ".join(map(self.mark, blobs)), replaces=len(text))
        return bool(blobs)

    async def take_clipboard(self) -> None:
        """Attach the picture that lies in the clipboard, or put in its text."""
        from hermes_platform_tui.composer.clipboard import NoClipboard, read_clipboard

        own = self._composer.app.clipboard
        try:
            clip = await read_clipboard()
            if clip.image:
                self._field.put(self.mark(picture(clip.image, "clipboard")))
            else:
                await self._composer.paste(clip.text or own)
        except NoClipboard as missing:
            if own:
                await self._composer.paste(own)
            else:
                self._composer.tell(str(missing))
        except Refused as refused:
            self._composer.tell(str(refused))

    async def edit(self) -> None:
        """Let the person write in an editor. Chips that are left as they are stay chips."""
        from hermes_platform_tui.composer.editor import NoEditor, edit

        document = self._field.text
        self.editing = True
        try:
            written = plain(await edit(self._composer.app, self._chips.expand(document)))
        except NoEditor as missing:
            self._composer.tell(str(missing))
        else:
            pieces = self._chips.refold(written, document)
            whole = (piece if piece.startswith(START) else self._chips.fold(piece, *ROOM) for piece in pieces)
            self._composer.put_document("".join(whole))
        finally:
            self.editing = False
            self._composer.focus_input()

    def chip_here(self) -> tuple[str, Chip] | None:
        """The mark and the chip that the cursor stands at: the one before it, else the one behind."""
        row, column = self._field.cursor_location
        return self._chips.beside(self._field.document.get_line(row), column)

    def view(self) -> bool:
        """Show what is behind the chip at the cursor. Whether there is one."""
        if (found := self.chip_here()) is None:
            return False
        from hermes_platform_tui.composer.viewer import PasteViewer

        mark, chip = found
        text = chip.text if chip.blob is None else plain(f"{chip.blob.name}\n{chip.blob.media_type}")
        unfolds = chip.blob is None and text.count("\n") < ROOM[0] and len(text) < ROOM[1]

        def done(answer: "PasteChoice | None") -> None:
            if answer:
                self._field.exchange(mark, chip.text if answer == "unfold" else "")

        self._composer.app.push_screen(PasteViewer(chip.label, text, unfolds), done)
        return True


def _size(path: str | None) -> int:
    try:
        return Path(path).stat().st_size if path else 0
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}.") from None
