"""A camera that writes its images directly into shared memory. `python camera.py [--count N]`"""

import argparse

import numpy

import gantry
from gantry.messages.sensor_msgs.msg import Image


class Camera(gantry.Node):
    """Publishes a moving picture at 30 Hz."""

    def __init__(self, count):
        super().__init__("camera")
        self.left = count
        self.publisher = self.create_publisher(Image, "image", gantry.qos_profile_sensor_data)
        self.pattern = numpy.random.default_rng(1).integers(0, 256, (480, 640, 3), numpy.uint8)
        self.create_timer(1 / 30, self.publish)

    def publish(self):
        """Publishes the next image."""
        height, width, channels = self.pattern.shape
        shape = {"encoding": "bgr8", "height": height, "width": width, "step": width * channels, "data": self.pattern.shape}
        with self.publisher.loan(header={"frame_id": "camera"}, **shape) as image:
            image.header.stamp = self.get_clock().now().to_msg()
            image.as_array()[:] = numpy.roll(self.pattern, self.left, axis=1)
        self.left -= 1
        if self.left == 0:
            self.executor.cancel()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=-1, help="images until the end [default: no end]")
    options, _ = parser.parse_known_args()
    gantry.init()
    gantry.spin(Camera(options.count))
