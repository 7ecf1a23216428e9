"""Two gateways and two workers, each a process of its own, share the load; and whoever is killed is followed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.real
PATIENCE = 60.0  # seconds; what needs them hangs
STEPS = 4


class House:
    """The processes, the people who write, and what really happened."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._events = 0
        (folder / "in").mkdir()

    def start(
        self, *names: str, seconds: float = 0.05, hangs: int = 0, count: int = 2, places: bool = False, orders: str = ""
    ) -> None:
        """Start processes; with ``places`` each as if on a machine of its own. One step ``hangs``; a plugin ``orders``
        a turn."""
        for name in names:
            order = {
                "name": name,
                "folder": str(self.folder),
                "url": self.url,
                "seconds": seconds,
                "hangs": hangs,
                "count": count,
                "orders": orders,
            }
            words = [sys.executable, str(Path(__file__).with_name("machine.py"))]
            order["place"] = name if places else ""
            with (self.folder / f"{name}.log").open("ab") as log:
                self.processes[name] = subprocess.Popen([*words, json.dumps(order)], stdout=log, stderr=log)
        for name in names:
            self.until(lambda name=name: self.noted("starts", by=name))

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    def write(self, chat: str, text: str) -> None:
        self._events += 1
        path = self.folder / "in" / f"{self._events:04}"
        path.with_suffix(".new").write_text(json.dumps([chat, text]))
        path.with_suffix(".new").rename(path.with_suffix(".json"))

    def noted(self, what: str, *details: object, by: str = "") -> list[list[object]]:
        """What was noted, in the order in which it happened: who did it, and the details."""
        file = self.folder / "truth"
        rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        rows = [[row[0], *row[2:]] for row in rows if row[1] == what and (not by or row[0] == by)]
        return [row for row in rows if row[1 : 1 + len(details)] == list(details)]

    def answers(self) -> list[str]:
        """The answers that people see, each message of the service once."""
        seen = {row[3]: str(row[2]) for row in self.noted("sent")}
        return [text for text in seen.values() if text.endswith(": done")]

    def until(self, happened: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not happened():
            ended = [name for name, one in self.processes.items() if one.poll() not in (None, -signal.SIGKILL)]
            if ended or time.monotonic() > end:
                pytest.fail("\n".join([f"waited in vain; ended by themselves: {ended}", *self._told()]))
            time.sleep(0.02)

    def _told(self) -> list[str]:
        files = [*sorted(self.folder.glob("*.log")), self.folder / "truth"]
        return [f"--- {file.name}\n{file.read_text()[-3000:]}" for file in files if file.exists()]

    def close(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture
def house(tmp_path: Path, database_url: str) -> Iterator[House]:
    made = House(tmp_path, database_url)
    yield made
    made.close()


def test_two_gateways_and_two_workers_share_the_load(house: House) -> None:
    house.start("gateway-1", "gateway-2", "worker-1", "worker-2", seconds=0.2)
    tasks = [f"task {number}" for number in range(8)]
    for number, task in enumerate(tasks):
        house.write(f"chat {number}", task)
    house.until(lambda: len(house.answers()) >= len(tasks))
    assert sorted(house.answers()) == [f"{task}: done" for task in tasks]
    assert len(house.noted("sent")) == len(tasks)
    assert {who for who, *_ in house.noted("done")} == {"worker-1", "worker-2"}
    for task in tasks:
        assert [row[2] for row in house.noted("begun", task)] == [1, 2, 3, 4]
    assert len(house.noted("listens")) == 1, "two gateways served one account"


@pytest.mark.parametrize("places", [False, True], ids=["on one machine", "on two machines"])
def test_a_worker_that_is_killed_in_mid_turn_is_followed_from_the_last_finished_step(
    house: House, places: bool
) -> None:
    house.start("gateway-1", "worker-1", hangs=3, count=1, places=places)
    house.write("chat", "task 1")
    house.write("chat", "task 2")
    house.until(lambda: house.noted("begun", "task 1", 3))
    house.start("worker-2", places=places)
    house.write("another chat", "task 4")  # which has to wait for nobody
    house.until(lambda: house.answers() == ["task 4: done"])
    house.kill("worker-1")
    house.write("chat", "task 3")
    house.until(lambda: len(house.answers()) >= 4)
    assert [row[2] for row in house.noted("done", "task 1", by="worker-1")] == [1, 2]
    went_on = [row[2] for row in house.noted("begun", "task 1", by="worker-2")]
    assert went_on == [4], "a step was run again, or left out"  # that the third came to no end is told
    in_order = [text for text in house.answers() if text != "task 4: done"]
    assert in_order == ["task 1: done", "task 2: done", "task 3: done"]
    assert len(house.answers()) == 4


@pytest.mark.parametrize("places", [False, True], ids=["on one machine", "on two machines"])
def test_a_gateway_that_is_killed_is_followed(house: House, places: bool) -> None:
    house.start("gateway-1", "gateway-2", "worker-1", places=places)
    house.write("chat", "task 1")
    house.until(lambda: house.answers() == ["task 1: done"])
    [[first]] = house.noted("listens")
    second = {"gateway-1": "gateway-2", "gateway-2": "gateway-1"}[str(first)]
    house.write("chat", "task 2")
    house.until(lambda: house.noted("begun", "task 2", 1))
    house.kill(str(first))  # while its answer is being made
    house.write("chat", "task 3")  # while nobody listens
    house.until(lambda: len(house.answers()) >= 3)
    assert house.answers() == [f"task {number}: done" for number in (1, 2, 3)]
    assert [who for who, *_ in house.noted("listens")] == [first, second]
    assert {who for who, _, text, _ in house.noted("sent") if text == "task 3: done"} == {second}


def test_a_worker_that_is_told_to_stop_leaves_the_rest_to_others(house: House) -> None:
    house.start("gateway-1", "worker-1", seconds=0.2)
    for number in range(6):  # it plays two at a time
        house.write(f"chat {number}", f"task {number}")
    house.until(lambda: len({row[1] for row in house.noted("begun")}) >= 2)
    house.start("worker-2")
    os.kill(house.processes["worker-1"].pid, signal.SIGTERM)
    assert house.processes.pop("worker-1").wait(PATIENCE) == 0
    house.until(lambda: len(house.answers()) >= 6)
    assert sorted(house.answers()) == [f"task {number}: done" for number in range(6)]
    for number in range(6):
        assert [row[2] for row in house.noted("begun", f"task {number}")] == [1, 2, 3, 4]
    whole = {row[1] for row in house.noted("done", by="worker-1")}
    assert all(len(house.noted("done", task, by="worker-1")) == STEPS for task in whole), "a turn was cut off"


def test_what_a_plugin_orders_is_played_once_by_whichever_worker(house: House) -> None:
    house.start("worker-1", "worker-2", orders="task 1")
    house.until(lambda: len(house.noted("ordered")) == 2)
    house.until(lambda: house.noted("done", "task 1", STEPS))
    house.write("chat", "task 2")  # whatever else there is to be done comes after it
    house.start("gateway-1")
    house.until(lambda: house.answers() == ["task 2: done"])
    assert [row[2] for row in house.noted("begun", "task 1")] == [1, 2, 3, 4]


@pytest.mark.parametrize("places", [False, True], ids=["on one machine", "on two machines"])
def test_an_order_goes_on_elsewhere_when_its_worker_is_killed(house: House, places: bool) -> None:
    house.start("worker-1", hangs=3, orders="task 1", places=places)
    house.until(lambda: house.noted("begun", "task 1", 3))
    house.start("worker-2", places=places)
    house.kill("worker-1")
    house.until(lambda: house.noted("done", "task 1", STEPS))
    assert [row[2] for row in house.noted("begun", "task 1", by="worker-2")] == [4]
