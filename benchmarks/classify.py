"""How long a report takes, beside others on the same pairs: ``python benchmarks/classify.py [--profile]``.

Prints median, 95th and 99th percentile of CPU milliseconds for a full report (verdict, veto, witness, via, findings)
and for the verdict alone, both also where stored versions were read before; for jsonschema-rs's ``covers`` alone, and
for ghga-jsonsubschema where it is installed. Two sets are made here, always the same ones: realistic edits of tools,
and schemas made to be hard. Real edits are added from ../shared/data beside the repository where that exists.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import cProfile
import gc
import importlib
import io
import json
import os
import pstats
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import jsonschema_rs
from classify_sets import adversarial, realistic

from driftwatch.classify import DEFAULT_POLICY, classify, decide
from driftwatch.classify.compare import of_sides
from driftwatch.classify.reading import Reading
from driftwatch.classify.side import read

SHARED: Final = Path(os.environ.get("DRIFTWATCH_SHARED", Path(__file__).parents[2] / "shared"))
REAL: Final = SHARED / "data" / "corpus" / "labelled_pairs.jsonl"
#: wall seconds a pair may take anybody
PATIENCE: Final = 5.0
Case = dict[str, Any]
Answer = Callable[[Case], object]


def real() -> list[Case]:
    """Edits that servers really made, where the data is."""
    if not REAL.exists():
        return []
    rows = (json.loads(line) for line in REAL.read_text().splitlines())
    return [{"old": row["old"], "new": row["new"], "direction": row["direction"]} for row in rows]


def report(case: Case) -> object:
    """Everything a change page shows."""
    return classify(case["old"], case["new"], direction=case["direction"], root="object").outcome


def known_before(cases: list[Case]) -> Answer:
    """The full report as the service makes it: the old version was read when it came, only the new one is new."""
    held = {id(case): read(case["old"], None, "object", DEFAULT_POLICY) for case in cases}

    def reported(case: Case) -> object:
        return of_sides(held[id(case)], read(case["new"], None, "object", DEFAULT_POLICY), case["direction"]).outcome

    for case in cases:
        reported(case)
    return reported


def verdict(case: Case) -> object:
    """The decision alone: prover, gates and veto."""
    old, new = (Reading(case[side], "2020-12", "object", DEFAULT_POLICY) for side in ("old", "new"))
    return decide.contains(*((new, old) if case["direction"] == "output" else (old, new))).answer


def both_known(cases: list[Case]) -> Answer:
    """The decision alone between stored versions, each of which was read when it came."""
    held = {
        id(case): tuple(Reading(case[side], "2020-12", "object", DEFAULT_POLICY) for side in ("old", "new"))
        for case in cases
    }

    def decided(case: Case) -> object:
        old, new = held[id(case)]
        return decide.contains(*((new, old) if case["direction"] == "output" else (old, new))).answer

    for case in cases:
        decided(case)
    return decided


def covers(case: Case) -> object:
    """jsonschema-rs alone, without witness, via or findings."""
    old, new = (jsonschema_rs.canonicalize(case[side], offline=True) for side in ("old", "new"))
    return (old.covers(new)) if case["direction"] == "output" else new.covers(old)


def other_tools() -> Iterator[tuple[str, Answer]]:
    """ghga-jsonsubschema, if it is installed (``pip install ghga-jsonsubschema``)."""
    try:
        module = importlib.import_module("jsonsubschema")
    except ImportError:
        print("ghga-jsonsubschema is not installed: pip install ghga-jsonsubschema to measure it too")
        return

    def contained(case: Case) -> object:
        # It edits what it is given.
        old, new = copy.deepcopy(case["old"]), copy.deepcopy(case["new"])
        return module.is_subschema(new, old) if case["direction"] == "output" else module.is_subschema(old, new)

    yield "ghga-jsonsubschema", contained


def late(_signal: int, _frame: object) -> None:
    """Interrupt whoever takes too long."""
    raise TimeoutError


def measured(cases: list[Case], answer: Answer) -> tuple[list[float], int]:
    """CPU milliseconds of each case, sorted, and how many ended with an exception or were too late."""
    times, failed = [], 0
    for case in cases:
        started = time.process_time()
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                answer(case)
        except (Exception, SystemExit):  # whatever another tool does, and one ends the process: it did not answer
            failed += 1
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        times.append((time.process_time() - started) * 1000)
    return sorted(times), failed


def quantile(times: list[float], share: float) -> float:
    """The value that ``share`` of the sorted ``times`` do not exceed."""
    return times[min(len(times) - 1, int(len(times) * share))]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--profile", action="store_true", help="show where the time of full reports goes")
    wanted = parser.parse_args()
    signal.signal(signal.SIGALRM, late)
    gc.collect()
    gc.freeze()  # as the sandbox's process does
    sets = {"realistic": realistic(), "adversarial": adversarial(), "real edits": real()}
    others = [("jsonschema-rs covers", covers), *other_tools()]
    for name, cases in sets.items():
        if not cases:
            print(f"\n{name}: no data beside the repository")
            continue
        full = [("driftwatch, full report", report), ("  with the old one known", known_before(cases))]
        alone = [("driftwatch, verdict alone", verdict), ("  with both known", both_known(cases))]
        print(f"\n{name}, {len(cases)} pairs, CPU ms {'p50':>12}{'p95':>10}{'p99':>10}{'max':>10}{'no answer':>12}")
        for tool, answer in [*full, *alone, *others]:
            measured(cases[:20], answer)  # warm
            times, failed = measured(cases, answer)
            row = (*(quantile(times, share) for share in (0.5, 0.95, 0.99)), times[-1])
            print(f"{tool:28}" + "".join(f"{value:10.2f}" for value in row) + f"{failed:12}")
    if wanted.profile:
        profile([case for cases in sets.values() for case in cases])


def profile(cases: list[Case]) -> None:
    """Where the time of full reports goes, by function."""
    profiler = cProfile.Profile()
    profiler.enable()
    for case in cases:
        report(case)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("cumulative").print_stats("classify", 40)


if __name__ == "__main__":
    main()
