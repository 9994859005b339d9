"""A service and its client. `python service.py server`, and in another shell `python service.py client 2 3`"""

import sys

import gantry
from gantry.messages.example_interfaces.srv import AddTwoInts


def add(request, response):
    """Answers a request."""
    response.sum = request.a + request.b
    print(f"{request.a} + {request.b}", flush=True)
    return response


if __name__ == "__main__":
    gantry.init()
    with gantry.Node("adder" if sys.argv[1] == "server" else "caller") as node:
        if sys.argv[1] == "server":
            node.create_service(AddTwoInts, "add_two_ints", add)
            gantry.spin(node)
        else:
            client = node.create_client(AddTwoInts, "add_two_ints")
            if not client.wait_for_service(timeout_sec=10):
                sys.exit("no server came within 10 s")
            request = AddTwoInts.Request(a=int(sys.argv[2]), b=int(sys.argv[3]))
            print(client.call(request, timeout_sec=10).sum)
