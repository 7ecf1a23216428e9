from hermes_core.errors import ToolError
import time
async def t(f):
    b=time.time()
    try: print('   OK:', f'{time.time()-b:.1f}', repr((await f)[:700]), f'{time.time()-b:.1f}')
    except ToolError as e:
        print('   ERR:', type(e).__name__, e.text[:300], '|', e.hint[:100], f'{time.time()-b:.1f}')
        if e.__cause__: print(str(e.__cause__))
async def test_dbg(bench, site, make):
    b=make(seconds=2)
    print('never'); await t(b.call("navigate", url=f"{site.url}/never"))
    await t(b.call("navigate", url=f"{site.url}/disabled"))
    await t(b.call("click", ref=b.ref("Never")))
    b=bench
    await t(b.call("navigate", url=f"{site.url}/popups"))
    await t(b.call("click", ref=b.ref("Many")))
    await t(b.call("tabs"))
    await t(b.call("navigate", url=f"{site.url}/many"))
    await t(b.call("snapshot"))
    await t(b.call("navigate", url=f"{site.url}/manyframes"))
    await t(b.call("navigate", url=f"{site.url}/download"))
    await t(b.call("click", ref=b.ref("report")))
    print(bench.browsing.backend._place.way.refused)
