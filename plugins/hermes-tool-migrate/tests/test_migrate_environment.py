"""Keys of another agent come as its shell would have read them."""

from pathlib import Path

from hermes_tool_migrate.found import Known
from hermes_tool_migrate.hermes_agent import read


def test_a_comment_behind_a_key_is_no_part_of_it(tmp_path: Path) -> None:
    tmp_path.joinpath(".env").write_text(
        "export OPENAI_API_KEY=\"sk-made-up-1\"  # work\nXAI_API_KEY='sk-made-up-2'\nGROQ_API_KEY=sk-made-up-3 # mine\n"
    )
    found = read(tmp_path, Known())
    assert found.keys == {
        "OPENAI_API_KEY": "sk-made-up-1",
        "XAI_API_KEY": "sk-made-up-2",
        "GROQ_API_KEY": "sk-made-up-3",
    }
