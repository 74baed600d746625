"""The parts of the attack, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.attack import answers, campaigns, disks, files, pages, signals, sockets, stores
from tests.attack.running import Arena
from tests.attack.table import Attack

PARTS: dict[str, Callable[[Arena], Iterator[Attack]]] = {
    "files": files.attacks,
    "answers": answers.attacks,
    "signals": signals.attacks,
    "disks": disks.attacks,
    "sockets": sockets.attacks,
    "stores": stores.attacks,
    "campaigns": campaigns.attacks,
    "pages": pages.attacks,
}
