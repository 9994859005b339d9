"""A node in asyncio that publishes, receives and serves requests in one thread, without an executor. `python
asyncio_node.py [COUNT]`"""

import asyncio
import sys

import gantry
from gantry.messages.std_msgs.msg import String
from gantry.messages.std_srvs.srv import SetBool


async def talk(node, count):
    """Publishes texts."""
    publisher = node.create_publisher(String, "chatter")
    for number in range(count):
        publisher.publish(String(data=f"hello {number}"))
        await asyncio.sleep(0.05)


async def listen(subscription, count):
    """Prints the texts."""
    async for message in subscription:
        print(message.data, flush=True)
        count -= 1
        if count == 0:
            return


async def serve(service):
    """Answers requests."""
    async for request, respond in service:
        respond(SetBool.Response(success=True, message=f"switched {'on' if request.data else 'off'}"))


async def main(count):
    """Runs all tasks at the same time."""
    with gantry.Node("async_node") as node:
        subscription = node.create_subscription(String, "chatter")
        server = asyncio.create_task(serve(node.create_service(SetBool, "switch")))
        client = node.create_client(SetBool, "switch")
        listener = asyncio.create_task(listen(subscription, count))
        response = await client.call_async(SetBool.Request(data=True))
        print(response.message, flush=True)
        await asyncio.gather(talk(node, count), listener)
        server.cancel()


if __name__ == "__main__":
    gantry.init()
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
