"""Questions about a language: is a string in it, which is a shortest one."""

from __future__ import annotations

from collections import deque
from typing import Final

from driftwatch.classify.budget import Budget
from driftwatch.classify.regex.charset import LAST
from driftwatch.classify.regex.terms import EVERYTHING, NONE, Term, derivative

#: characters people like to read, best first
_NICE: Final = tuple(map(ord, "aA0bx1-_. @/:"))


def matches(term: Term, text: str) -> bool:
    """True when the string is in the language."""
    for char in text:
        if term is NONE or term is EVERYTHING:
            break
        term = derivative(term, _representative(term, ord(char)))
    return term.nullable


def _representative(term: Term, code: int) -> int:
    return max((cut for cut in term.cuts if cut <= code), default=0)


def shortest(term: Term, budget: Budget) -> str | None:
    """A shortest string of the language, None when there is none. Breadth first over derivatives."""
    if term.nullable:
        return ""
    queue: deque[tuple[Term, str]] = deque([(term, "")])
    seen = {term}
    while queue:
        here, prefix = queue.popleft()
        for representative, char in _moves(here):
            after = derivative(here, representative)
            if after is NONE or after in seen:
                continue
            budget.spend()
            if after.nullable:
                return prefix + char
            seen.add(after)
            queue.append((after, prefix + char))
    return None


def _moves(term: Term) -> list[tuple[int, str]]:
    """One move per class of characters: its representative and its nicest member; nice classes first."""
    cuts = sorted(term.cuts | {0})
    ranked: list[tuple[int, int, str]] = []
    for index, low in enumerate(cuts):
        high = cuts[index + 1] - 1 if index + 1 < len(cuts) else LAST
        if low > LAST or (low >= 0xD800 and high <= 0xDFFF):
            continue
        rank = next((rank for rank, nice in enumerate(_NICE) if low <= nice <= high), None)
        if rank is not None:
            ranked.append((rank, low, chr(_NICE[rank])))
        else:
            visible = max(low, 0x21) if low < 0x21 <= high else low
            ranked.append((len(_NICE) + (visible > 0x7E), low, chr(0xE000 if 0xD800 <= visible <= 0xDFFF else visible)))
    ranked.sort()
    return [(low, char) for _, low, char in ranked]
