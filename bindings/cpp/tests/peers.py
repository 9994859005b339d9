"""The other end of the examples `talker` and `listener`, in Gantry for Python or in rclpy.

`peers.py MODULE listen` prints three texts. `peers.py MODULE talk` publishes until its subscriptions have left. MODULE is
`gantry` or `rclpy`."""

import importlib
import sys

module, part = sys.argv[1:]
ros = importlib.import_module(module)
String = importlib.import_module({"gantry": "gantry.messages.std_msgs.msg", "rclpy": "std_msgs.msg"}[module]).String
ros.init()
node = getattr(ros, "Node", None) or ros.create_node
node = node(f"{module}_{part}")

if part == "listen":
    texts = []
    node.create_subscription(String, "chatter", texts.append, 10)
    while len(texts) < 3:
        ros.spin_once(node)
    print(*(text.data for text in texts), sep="\n")
else:
    publisher = node.create_publisher(String, "chatter", 10)
    node.create_timer(0.05, lambda: publisher.publish(String(data=f"from {module}")))
    has_listener = False
    while publisher.get_subscription_count() or not has_listener:
        has_listener = has_listener or publisher.get_subscription_count() > 0
        ros.spin_once(node)
