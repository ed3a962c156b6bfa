"""driftwatch: who changed a tool contract, does it break a cached client, and was it announced.

The data's way through the house, one room after the other:

    servers       a person registers a server; a preview shows eras and tools before anything is saved
    scheduler     what is due, who does it: ticks, claims, poll jobs, the sweep that resumes after a crash
    wire          speaks MCP: finds the eras, walks every page of tools/list. Returns bytes and facts
    capture       bytes -> Snapshot: canonical form, digests, conformance findings. Pure
    history       snapshot against the last one -> versions, intervals, changes, changesets. Nothing overwritten
    classify      (old schema, new schema, direction) -> Verdict with witness and findings. Pure
    announcement  (window, coverage, notifications, restart evidence) -> announced | silent | unknown | pending. Pure
    alerts        policy -> alert (one per changeset) -> outbox -> channels; acknowledge, accept
    web           API and pages: register, browse, decide

Beside the way: ``agent`` (beside a server that only its own machine reaches: looks, listens, pushes what it saw),
``cli`` (the same things from a terminal), ``client`` (the API from Python; the CLI speaks through it), ``db``
(Postgres, embedded or external), ``testing`` (the fake Slack and the demo server, public so that users can test with
them).
"""

__version__ = "0.1.0"
