"""The screen that the conversations are on: its first frame does not wait for what was done a moment ago."""

from textual.screen import Screen

__all__ = ["FirstScreen"]


class FirstScreen(Screen[None]):
    """As any screen. What it holds got its styles as it was put there: they are not made anew when it is shown."""

    _fresh = True

    def update_node_styles(self, animate: bool = True) -> None:
        """Do it, but when it is shown for the first time; what changes before or after that is heeded as ever."""
        if self._fresh and self.stack_updates == 1:
            self._fresh = False
        else:
            super().update_node_styles(animate=animate)
