import asyncio

from driftwatch.scheduler.hosts import HostLimits


async def test_a_host_has_so_many_places_and_others_have_their_own() -> None:
    hosts = HostLimits(per_host=2)
    running: dict[str, int] = {"a": 0, "b": 0}
    most: dict[str, int] = {"a": 0, "b": 0}

    async def visit(host: str) -> None:
        async with hosts.place(host):
            running[host] += 1
            most[host] = max(most[host], running[host])
            await asyncio.sleep(0.01)
            running[host] -= 1

    await asyncio.gather(*(visit(host) for host in "aabaabab"))
    assert most == {"a": 2, "b": 2}


async def test_waiting_for_a_slow_host_takes_no_place_from_others() -> None:
    hosts = HostLimits(per_host=1, in_all=2)
    async with hosts.place("slow"):
        waiting = [asyncio.create_task(_enter(hosts, "slow")) for _ in range(5)]
        await asyncio.sleep(0)
        async with asyncio.timeout(1), hosts.place("quick"):
            assert not any(task.done() for task in waiting)
    await asyncio.gather(*waiting)


async def test_hosts_are_forgotten() -> None:
    hosts = HostLimits()
    for n in range(100):
        await _enter(hosts, f"h{n}")
    assert len(hosts._places) <= 1


async def _enter(hosts: HostLimits, host: str) -> None:
    async with hosts.place(host):
        pass
