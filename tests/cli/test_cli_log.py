"""The log file: made by its first record, put aside by size, and never in the way."""

import json
import logging
import threading
from functools import partial

from hermes_core.cli.log import start_logging

log = logging.getLogger("hermes_core.test")


def test_a_full_log_is_put_aside_and_the_oldest_goes(hermes):
    hermes.configure({"logging.backup_count": 2, "logging.max_size_mb": 1})
    runtime = hermes.runtime
    start_logging(runtime.home, runtime.settings)
    folder = runtime.home.logs
    for number in range(4):
        log.warning("record %d", number)
        with (folder / "hermes.log").open("a") as file:
            file.write("\n" + "x" * (1 << 20))
    log.warning("the last one")
    kept = {path.name: path.read_text().splitlines() for path in folder.iterdir()}
    assert sorted(kept) == ["hermes.log", "hermes.log.1", "hermes.log.2"]
    events = {name: json.loads(lines[0])["event"] for name, lines in kept.items()}
    assert events == {"hermes.log": "the last one", "hermes.log.1": "record 3", "hermes.log.2": "record 2"}


def test_a_log_whose_folder_goes_is_begun_again_and_one_that_cannot_be_written_stops_nothing(hermes):
    runtime = hermes.runtime
    start_logging(runtime.home, runtime.settings)
    log.warning("one")
    (runtime.home.logs / "hermes.log").unlink()
    runtime.home.logs.rmdir()
    log.warning("half a character: \ud800")
    [line] = (runtime.home.logs / "hermes.log").read_text().splitlines()
    assert json.loads(line)["event"] == "half a character: \ud800"
    (runtime.home.logs / "hermes.log").unlink()
    runtime.home.logs.rmdir()
    runtime.home.logs.write_text("a file in its place")
    log.warning("nobody hears this")
    assert runtime.home.logs.read_text() == "a file in its place"


def test_who_loads_maskers_may_log_while_others_do(hermes):
    runtime = hermes.runtime
    start_logging(runtime.home, runtime.settings)
    loading, heard = threading.Event(), threading.Event()

    def source():
        loading.set()
        heard.wait(1)  # by now the other one is on its way to the file, and waits for these maskers
        log.warning("of the maskers")
        return ()

    def other():
        loading.wait(5)
        log.warning("of another")
        heard.set()

    runtime.settings.masks.use(source)
    both = other, partial(runtime.settings.masks.always, "x" * 99)
    threads = [threading.Thread(target=one, daemon=True) for one in both]
    for one in threads:
        one.start()
    for one in threads:
        one.join(10)
    assert not any(one.is_alive() for one in threads)
    lines = (runtime.home.logs / "hermes.log").read_text().splitlines()
    # What is said while nobody can judge it is hidden whole.
    assert sorted(json.loads(line)["event"] for line in lines) == ["***", "of another"]
