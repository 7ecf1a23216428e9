"""The page that shows the terminal. All of it comes from here: no other host is asked for anything."""

__all__ = ["CSS", "HTML", "JS", "told"]

HTML = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Hermes</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/static/css/xterm.css">
<link rel="stylesheet" href="/page.css">
<script src="/page.js" defer></script>
<script src="/static/js/textual.js" defer></script>
</head>
<body>
<main id="terminal" class="textual-terminal" data-session-websocket-url="" data-font-size="16"></main>
<div class="notice opening"><p>Hermes is starting<b> …</b><i></i></p></div>
<div class="notice closed" role="alertdialog" aria-labelledby="over">
<p id="over">This conversation has ended here. It is kept.</p>
<button type="button" id="again">Open Hermes again</button>
</div>
<noscript><p>The terminal needs JavaScript.</p></noscript>
</body>
</html>
"""

CSS = """@font-face { font-family: "Roboto Mono"; font-weight: 100 700;
  src: url("/static/fonts/RobotoMono-VariableFont_wght.ttf") format("truetype"); }
@font-face { font-family: "Roboto Mono"; font-weight: 100 700; font-style: italic;
  src: url("/static/fonts/RobotoMono-Italic-VariableFont_wght.ttf") format("truetype"); }
html, body { margin: 0; height: 100%; background: #11141a; color: #e6e9ef; overflow: hidden;
  font: 16px "Roboto Mono", ui-monospace, monospace; }
.textual-terminal { position: absolute; inset: 0; visibility: hidden; }
body.-first-byte .textual-terminal { visibility: visible; }
.notice { position: absolute; inset: 0; display: none; flex-direction: column; gap: 1rem; z-index: 20;
  align-items: center; justify-content: center; background: #11141a; text-align: center; }
.notice.opening { display: flex; }
body.-first-byte .opening, body.-closed .opening { display: none; }
body.-closed .closed { display: flex; inset: auto 0 0 0; padding: 1rem; flex-flow: row wrap; }
button { font: inherit; color: #11141a; background: #8fd0ff; border: 0; border-radius: 6px; padding: .6rem 1.2rem;
  cursor: pointer; }
button:focus-visible { outline: 3px solid #fff; outline-offset: 3px; }
"""

JS = """"use strict";
const terminal = document.getElementById("terminal");
const scheme = location.protocol === "https:" ? "wss://" : "ws://";
terminal.dataset.sessionWebsocketUrl = scheme + location.host + "/ws";
const size = Number(new URLSearchParams(location.search).get("fontsize"));
if (size >= 6 && size <= 48) terminal.dataset.fontSize = String(size);
const again = document.getElementById("again");
again.addEventListener("click", () => location.reload());
let shown = false;
new MutationObserver(() => {
  const classes = document.body.classList;
  if (classes.contains("-closed")) again.focus();
  else if (!shown && classes.contains("-first-byte")) {
    shown = true;
    terminal.querySelector(".xterm-helper-textarea")?.focus();
  }
}).observe(document.body, { attributes: true, attributeFilter: ["class"] });
"""


def told(text: str, *, onward: bool = False) -> str:
    """A plain page with one line; ``onward`` goes on to the terminal by itself."""
    onwards = '<meta http-equiv="refresh" content="0;url=/">' if onward else ""
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{onwards}<title>Hermes</title></head>'
        f"<body><p>{text}</p></body></html>"
    )
