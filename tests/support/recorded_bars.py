"""Progress bars that record what a user would see."""


class RecordedBars:
    """Bars of loops: `steps` holds (description, total) of each bar, and what is done.

    They take the place of all bars, from the first step of a loop on, until the test ends.
    """

    def __init__(self, monkeypatch) -> None:
        self.steps: list = []
        monkeypatch.setattr("hetero.display.progress_bar._make_bars", lambda transient=False: self)
        monkeypatch.setattr("hetero.display.progress_bar.SECONDS_BEFORE_LOOP", -1.0)

    def add(self, description, total):
        self.steps.append((description, total))
        return 0

    def update(self, bar, done):
        self.steps.append(done)

    def remove(self, bar):
        pass

    def close(self):
        pass
