"""Each letter is answered once, and nobody hears of another's."""

from hermes_core.testing import PluginContract


class TestPlugin(PluginContract):
    module = "letterbox"


async def test_each_letter_has_its_answer(hermes, scripted, tmp_path):
    provider = scripted("Dear Ada.", "Dear Ben.", "Still Ada.")
    hermes.tmp_plugin(provider)
    hermes.tmp_plugin("letterbox")
    (tmp_path / "ada.1.txt").write_text("I am Ada.")
    (tmp_path / "ben.1.txt").write_text("I am Ben.")
    await hermes.command("letterbox", str(tmp_path))
    await hermes.command("letterbox", str(tmp_path))  # they are known by now
    (tmp_path / "ada.2.txt").write_text("Who am I?")
    await hermes.command("letterbox", str(tmp_path))
    answers = {path.name: path.read_text() for path in tmp_path.glob("*.answer")}
    assert answers == {"ada.1.answer": "Dear Ada.", "ben.1.answer": "Dear Ben.", "ada.2.answer": "Still Ada."}
    assert "I am Ada." in str(provider.requests[2].messages)
    assert "I am Ben." not in str(provider.requests[2].messages)
