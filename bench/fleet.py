"""A fleet to measure: started on a throw-away folder, signed in to, and stopped."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Running:
    """Where it is, and a personal token for each person asked for."""

    data: Path
    url: str
    tokens: dict[str, str]

    @property
    def token(self) -> str:
        """The first person's."""
        return next(iter(self.tokens.values()))


@contextmanager
def demo_fleet() -> Iterator[Running]:
    """A fleet with the demo pulled in."""
    with running_fleet("", ["you@localhost"]) as fleet:
        yield fleet


@contextmanager
def running_fleet(settings: str, people: Sequence[str]) -> Iterator[Running]:
    """A fleet on these settings, TOML, whose sources have all been read; with none, the demo's."""
    command = str(Path(sys.executable).parent / "memoria")
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir()
        if settings:
            (data / "memoria.toml").write_text(settings)
        env = {name: value for name, value in os.environ.items() if not name.startswith("MEMORIA_")}
        process = subprocess.Popen([command, "up", "--data", str(data)], stdout=subprocess.DEVNULL, env=env)
        try:
            _wait(data, command)
            for person in people:
                # The command's own first search makes the personal token that is used from here on.
                words = [command, "search", "--data", str(data), "ferry", "--json", "--as", person]
                subprocess.run(words, check=True, capture_output=True)
            made = json.loads((data / "cli-tokens.json").read_text())
            url = json.loads((data / "run.json").read_text())["url"]
            yield Running(data, url, {person: made[person] for person in people})
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def _wait(data: Path, command: str) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        asked = subprocess.run([command, "status", "--data", str(data), "--json"], capture_output=True, text=True)
        if asked.returncode == 0:
            sources = json.loads(asked.stdout)["sources"]
            if sources and all(source["state"] == "current" for source in sources):
                return
        time.sleep(0.5)
    raise SystemExit("the fleet did not come up")
