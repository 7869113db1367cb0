"""Snapshots that need more than addition: sessions stitched over the cut, and tallies made of sessions."""

from dataclasses import replace

import pyarrow as pa

from penstock.lake import session_sql
from penstock.lake.local import tally_sql
from penstock.model.view import Sessions, Tally
from penstock.serve.engine import Engine
from penstock.serve.files import Files, together
from penstock.serve.snapshot import Snapshot


class Correction:
    """Made once for each pair of snapshots, and asked by many queries."""

    def __init__(self, engine: Engine, files: Files) -> None:
        self._engine = engine
        self._files = files
        self._made: dict[str, tuple[tuple[str | int, ...], Snapshot]] = {}

    def tally(self, tally: Tally, own: Snapshot, sessions: Snapshot) -> Snapshot:
        """The tally's gold, with the days that open sessions changed made again from the sessions themselves."""
        versions = own.release, own.gold_version, sessions.gold_version, sessions.speed_version
        made = self._made.get(tally.name)
        if made is None or made[0] != versions:
            made = self._made[tally.name] = (versions, self._corrected(tally, own, sessions))
        return made[1]

    def stitched(self, sessions: Snapshot, since: int | None = None) -> pa.Table | None:
        """The sessions that have open facts, each with the published ones that it takes in."""
        minis = sessions.since(sessions.cut if since is None else since)
        if minis is None:
            return None
        view = _sessions(sessions)
        near = together([self._files.read(file) for file in session_sql.reach(view, minis, sessions.gold)])
        relations = {"minis": minis, **({"near": near} if near is not None else {})}
        return self._engine.table(session_sql.stitched_sql(view, near is not None), relations)

    def _corrected(self, tally: Tally, own: Snapshot, sessions: Snapshot) -> Snapshot:
        # Sessions are published before the tallies made of them, and speed rows go last: rows after the older
        # of the two cuts are all still here, and say which days may differ.
        changed = self.stitched(sessions, min(own.cut, sessions.cut))
        if changed is None and own.cut >= 0:
            return own
        view = _sessions(sessions)
        days = session_sql.spanned_days(changed) if changed is not None else frozenset()
        if own.cut < 0:
            # Never built: everything is made of the sessions.
            days |= {file.partition["day"] for file in sessions.gold}
        if not days:
            return own
        gold = together([self._files.read(file) for file in sessions.gold if file.partition["day"] in days])
        partials = self._partials(tally, view, gold, self.stitched(sessions))
        return replace(
            own,
            cut=min(own.cut, sessions.cut),
            speed_version=sessions.speed_version,
            speed=partials.append_column("epoch", pa.array([sessions.epoch] * partials.num_rows, pa.int64())),
            replaced=frozenset(days),
        )

    def _partials(self, tally: Tally, view: Sessions, gold: pa.Table | None, stitched: pa.Table | None) -> pa.Table:
        parts = {"gold": gold, "stitched": stitched}
        relations = {name: rows for name, rows in parts.items() if rows is not None}
        sql = tally_sql(tally, "shown")
        return self._engine.table(
            f"with shown as ({session_sql.all_sessions_sql(view, tuple(relations))}) {sql}", relations
        )


def _sessions(snapshot: Snapshot) -> Sessions:
    assert isinstance(snapshot.view, Sessions)
    return snapshot.view
