import diary


async def test_a_page_goes_with_its_conversation(hermes, scripted):
    hermes.tmp_plugin(scripted("Hello.", "Hello again."))
    hermes.tmp_plugin(diary.on_turn_end, diary.on_session_deleted, name="diary")
    for session in ("monday", "tuesday"):
        await hermes.run("Hi.", session=session)
    pages = hermes.runtime.home.root / "data" / "tool-diary"
    assert "done" in (pages / "monday").read_text()

    await hermes.runtime.sessions.delete("monday", hermes.runtime.owner)
    assert [page.name for page in pages.iterdir()] == ["tuesday"]
