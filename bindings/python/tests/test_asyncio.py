"""Tests of asyncio: messages, requests and responses by file descriptors, without a second thread."""

import asyncio
import threading

import gantry
from gantry.messages.example_interfaces.srv import AddTwoInts
from gantry.messages.std_msgs.msg import UInt64


def run(main):
    return asyncio.run(asyncio.wait_for(main, 60))


def test_messages_are_awaited(node):
    publisher, subscription = node.create_publisher(UInt64, "async", 100), node.create_subscription(UInt64, "async", 100)

    async def publish():
        for value in range(20):
            publisher.publish(UInt64(data=value))
            await asyncio.sleep(0.001 if value % 3 else 0)

    async def main():
        task = asyncio.create_task(publish())
        taken = []
        async for message in subscription:
            taken.append(message.data)
            if len(taken) == 20:
                break
        await task
        return taken

    assert run(main()) == list(range(20))


def test_messages_of_another_thread_end_the_wait(node):
    publisher, subscription = node.create_publisher(UInt64, "thread"), node.create_subscription(UInt64, "thread")

    async def main():
        waiting = asyncio.create_task(subscription.take_async())
        await asyncio.sleep(0.01)
        threading.Thread(target=lambda: publisher.publish(UInt64(data=3))).start()
        return (await waiting).data

    assert run(main()) == 3


def test_services_are_served_and_called(node):
    service, client = node.create_service(AddTwoInts, "add"), node.create_client(AddTwoInts, "add")

    async def serve():
        async for request, respond in service:
            await asyncio.sleep(0.001)
            respond(AddTwoInts.Response(sum=request.a + request.b))

    async def main():
        server = asyncio.create_task(serve())
        sums = await asyncio.gather(*(client.call_async(AddTwoInts.Request(a=value, b=1)) for value in range(8)))
        server.cancel()
        return [response.sum for response in sums]

    assert run(main()) == list(range(1, 9))


def test_the_end_of_a_server_ends_the_call(node):
    service, client = node.create_service(AddTwoInts, "add"), node.create_client(AddTwoInts, "add")

    async def main():
        call = asyncio.ensure_future(_awaited(client.call_async(AddTwoInts.Request())))
        await asyncio.sleep(0.01)
        service.destroy()
        try:
            await call
        except gantry.GantryError as error:
            return str(error)

    assert "will not be answered" in run(main())


async def _awaited(future):
    return await future


def test_a_shutdown_ends_the_loops(program, node):
    subscription = node.create_subscription(UInt64, "never")

    async def main():
        asyncio.get_running_loop().call_later(0.01, gantry.shutdown)
        async for _ in subscription:
            raise AssertionError
        return "ended"

    assert run(main()) == "ended"


def test_several_tasks_wait_for_one_subscription(node):
    publisher, subscription = node.create_publisher(UInt64, "shared", 10), node.create_subscription(UInt64, "shared", 10)

    async def main():
        tasks = [asyncio.create_task(subscription.take_async()) for _ in range(3)]
        for value in range(3):
            await asyncio.sleep(0.005)
            publisher.publish(UInt64(data=value))
        return sorted([(await task).data for task in tasks])

    assert run(main()) == [0, 1, 2]


def test_a_destroyed_subscription_ends_its_loop(node):
    subscription = node.create_subscription(UInt64, "destroyed")

    async def main():
        asyncio.get_running_loop().call_later(0.01, subscription.destroy)
        try:
            await subscription.take_async()
        except gantry.GantryError as error:
            return str(error)

    assert "this subscription was destroyed" in run(main())
