"""Objects: which keys are there, and a value for each.

Every denial is an obligation with a few ways to meet it: a required key is missing, a key has a bad value, a key nobody
names has one. Keys nobody names are alike as long as they match the same patterns, so one representative per set of
patterns (an atom of the key space) stands for all, and a second one when two obligations disagree about its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from driftwatch.classify.ir import BOTTOM, TOP, Keys, Node, Props, Required, Size
from driftwatch.classify.prove.answers import Found, Result, Unknown, better
from driftwatch.classify.prove.keyspace import KeySpace, judges
from driftwatch.classify.prove.state import State
from driftwatch.classify.prove.strings import Window, meet, outside
from driftwatch.classify.regex.syntax import RegexError

if TYPE_CHECKING:
    from driftwatch.classify.prove.search import Search

MAX_KEYS: Final = 2_000


class Option(NamedTuple):
    """One way to meet an obligation.

    ``missing``: the key is not there. Otherwise it is there, outside ``judge`` if that is given; ``atom`` says that the
    key only stands for its atom.
    """

    key: str
    judge: Node | None = None
    missing: bool = False
    atom: int | None = None


class Plan(NamedTuple):
    """Choices made so far: keys that must be there, keys that must not, what values must not be in, spare keys used."""

    must: frozenset[str]
    absent: frozenset[str]
    outside: Mapping[str, tuple[Node, ...]]
    used: tuple[tuple[int, str], ...] = ()


def solve(state: State, search: Search) -> Result:
    """An object that satisfies the facts and denials of the state."""
    windows: list[Window] = [(0, None)]
    for fact in state.facts:
        if isinstance(fact, Size):
            windows = meet(windows, fact.least, fact.most)
    for denial in state.denials:
        if isinstance(denial, Size):
            windows = outside(windows, denial.least, denial.most)
    if not windows:
        return None
    try:
        leaf = _Leaf(state, search)
        obligations = leaf.obligations()
    except RegexError as error:
        return Unknown(error.reason)
    if obligations is None:
        return None
    unknown: Unknown | None = None
    for window in windows:
        result = leaf.meet(obligations, Plan(leaf.required, frozenset(), {}), window)
        if isinstance(result, Found):
            return result
        if result is not None:
            unknown = better(unknown, result)
    return unknown


class _Leaf:
    def __init__(self, state: State, search: Search) -> None:
        self.search = search
        self.props = [fact for fact in state.facts if isinstance(fact, Props)]
        self.denials = [denial for denial in state.denials if isinstance(denial, Props | Required | Keys)]
        self.required: frozenset[str] = frozenset()
        for fact in state.facts:
            if isinstance(fact, Required):
                self.required |= fact.names
        everywhere = [*self.props, *(denial for denial in self.denials if isinstance(denial, Props))]
        self.space = KeySpace(
            [source for props in everywhere for source, _ in props.patterns],
            [fact.key for fact in state.facts if isinstance(fact, Keys)],
            [denial.key for denial in self.denials if isinstance(denial, Keys)],
            search.budget,
        )
        names = self.required.union(self.space.listed or ())
        for props in everywhere:
            names = names.union(props.names)
        for denial in self.denials:
            if isinstance(denial, Required):
                names |= denial.names
        self.names = names
        self._judges: dict[str, list[Node]] = {}
        self._values: dict[tuple[str, tuple[Node, ...]], Result] = {}

    # what is asked of a value

    def asked(self, key: str) -> list[Node]:
        """Nodes the value of a key must be in."""
        found = self._judges.get(key)
        if found is None:
            found = [judge for props in self.props for judge in judges(props, key, self.space)]
            if not self.space.allowed(key):
                found = [BOTTOM]
            self._judges[key] = found
        return found

    def value(self, key: str, outside: tuple[Node, ...]) -> Result:
        """A value for a key."""
        at = (key, outside)
        if at not in self._values:
            result = self.search.find(self.asked(key), outside)
            self._values[at] = result.below("properties", key) if isinstance(result, Unknown) else result
        return self._values[at]

    # obligations

    def obligations(self) -> list[list[Option]] | None:
        """The options of every denial that alone are possible, hardest denial first; None when one has none."""
        result: list[list[Option]] = []
        for denial in self.denials:
            if isinstance(denial, Required):
                options = [Option(key, missing=True) for key in sorted(denial.names - self.required)]
            else:
                options = [each for each in self._options(denial) if self._possible(each)]
                options.sort(key=self._bulk)
            if not options:
                return None
            result.append(options)
        result.sort(key=len)
        return result

    def _possible(self, option: Option) -> bool:
        denied = () if option.judge is None else (option.judge,)
        return self.value(option.key, denied) is not None

    def _bulk(self, option: Option) -> int:
        """How large a value the option needs: small witnesses read best."""
        result = self.value(option.key, () if option.judge is None else (option.judge,))
        return _nodes(result.value) if isinstance(result, Found) else 0

    def _options(self, denial: Props | Keys) -> Iterable[Option]:
        for key in sorted(self.names):
            yield from self._violations(denial, key, None)
        if isinstance(denial, Keys) or denial.patterns or denial.rest is not TOP:
            for atom, key in self.space.representatives(self.names):
                yield from self._violations(denial, key, atom)

    def _violations(self, denial: Props | Keys, key: str, atom: int | None) -> Iterable[Option]:
        if isinstance(denial, Keys):
            if not self.space.inside(denial.key, key):
                yield Option(key, atom=atom)
            return
        asked = self.asked(key)
        for judge in judges(denial, key, self.space):
            if judge is not TOP and judge not in asked:
                yield Option(key, judge, atom=atom)

    # search over options

    def meet(self, obligations: list[list[Option]], plan: Plan, window: Window) -> Result:
        """Meet all obligations, then build the object."""
        self.search.budget.spend()
        if window[1] is not None and len(plan.must) > window[1]:
            return None
        left = self._left(obligations, plan)
        if left is None:
            return None
        if not left:
            return self.build(plan, window)
        unknown: Unknown | None = None
        for option in left[0]:
            for next_plan in self._taken(option, plan):
                result = self.meet(left[1:], next_plan, window)
                if isinstance(result, Found):
                    return result
                if result is not None:
                    unknown = better(unknown, result)
        return unknown

    def _left(self, obligations: list[list[Option]], plan: Plan) -> list[list[Option]] | None:
        """Obligations the plan does not meet yet, fewest options first; None when one has no option left."""
        left: list[list[Option]] = []
        for options in obligations:
            if any(self._met(option, plan) for option in options):
                continue
            still = [option for option in options if self._open(option, plan)]
            if not still:
                return None
            left.append(still)
        left.sort(key=len)
        return left

    def _open(self, option: Option, plan: Plan) -> bool:
        """Can the option still be taken."""
        if option.missing:
            return option.key not in plan.must
        if option.atom is not None:
            return True
        if option.judge is None or option.key in plan.absent:
            return option.key not in plan.absent
        denied = plan.outside.get(option.key, ())
        return self.value(option.key, (*denied, option.judge)) is not None

    @staticmethod
    def _met(option: Option, plan: Plan) -> bool:
        """Is the option a consequence of the plan."""
        if option.missing:
            return option.key in plan.absent
        if option.judge is None:
            return option.key in plan.must
        return option.judge in plan.outside.get(option.key, ())

    def _taken(self, option: Option, plan: Plan) -> Iterable[Plan]:
        """The plans that follow from taking an option: for an atom, with a key already used or with a new one."""
        if option.missing:
            if option.key not in plan.must:
                yield plan._replace(absent=plan.absent | {option.key})
            return
        if option.atom is None:
            if option.key not in plan.absent:
                yield from self._with_key(option.key, option.judge, plan)
            return
        mine = [key for atom, key in plan.used if atom == option.atom]
        for key in mine:
            yield from self._with_key(key, option.judge, plan)
        fresh = self.space.another(option.atom, self.names.union(mine))
        if fresh is not None:
            used = (*plan.used, (option.atom, fresh))
            yield from self._with_key(fresh, option.judge, plan._replace(used=used))

    def _with_key(self, key: str, judge: Node | None, plan: Plan) -> Iterable[Plan]:
        denied = plan.outside.get(key, ())
        if judge is not None and judge not in denied:
            denied = (*denied, judge)
            if self.value(key, denied) is None:
                return
        yield plan._replace(must=plan.must | {key}, outside={**plan.outside, key: denied})

    # the object

    def build(self, plan: Plan, window: Window) -> Result:
        """An object with the planned keys, filled up to the least size."""
        least = window[0]
        if least > MAX_KEYS:
            return Unknown("size")
        chosen: dict[str, Any] = {}
        unknown: Unknown | None = None
        complete = True
        for key in sorted(plan.must):
            result = self.value(key, plan.outside.get(key, ()))
            if result is None:
                return None
            if isinstance(result, Unknown):
                unknown = unknown or result
                complete = complete and result.candidate is not None
            found = result.candidate if isinstance(result, Unknown) else result
            chosen[key] = found.value if found else None
        unclear = self._fill(chosen, plan, least)
        if len(chosen) < least:
            return unclear
        if unknown is not None:
            return Unknown(unknown.reason, unknown.pointer, Found(chosen) if complete else None)
        return Found(chosen)

    def _fill(self, chosen: dict[str, Any], plan: Plan, least: int) -> Unknown | None:
        """Add keys with any allowed value until there are ``least``. Unknown when a key that might help is unclear."""
        unknown: Unknown | None = None
        for name in sorted(self.names - plan.must - plan.absent) if len(chosen) < least else ():
            if len(chosen) < least:
                unknown = self._add(chosen, name, unknown)
        for atom, _ in self.space.representatives(self.names) if len(chosen) < least else ():
            key = self.space.another(atom, self.names | chosen.keys())
            while key is not None and len(chosen) < least:
                unknown = self._add(chosen, key, unknown)
                if key not in chosen:
                    break
                key = self.space.another(atom, self.names | chosen.keys())
        return unknown

    def _add(self, chosen: dict[str, Any], key: str, unknown: Unknown | None) -> Unknown | None:
        result = self.value(key, ())
        if isinstance(result, Found):
            chosen[key] = result.value
        elif result is not None:
            return better(unknown, result)
        return unknown


def _nodes(value: Any) -> int:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_nodes, parts))
