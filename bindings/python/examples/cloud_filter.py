"""A filter of point clouds that keeps the points above the ground. `python cloud_filter.py [--count N] [--test]`"""

import argparse

import numpy

import gantry
from gantry.messages.sensor_msgs.msg import PointCloud2


class Filter(gantry.Node):
    """Reads each cloud in shared memory, and writes the kept points directly into the memory of the next cloud."""

    def __init__(self, count):
        super().__init__("cloud_filter")
        self.left = count
        self.publisher = self.create_publisher(PointCloud2, "points_filtered", gantry.qos_profile_sensor_data)
        self.create_subscription(PointCloud2, "points", self.filter, gantry.qos_profile_sensor_data)

    def filter(self, cloud):
        """Publishes the points of a cloud that are above the ground."""
        points = cloud.as_array()
        kept = points[points["z"] > 0.2]
        size = kept.size * cloud.point_step
        shape = {"header": cloud.header, "height": 1, "width": kept.size, "point_step": cloud.point_step}
        shape.update(fields=cloud.fields, row_step=size, is_dense=cloud.is_dense)
        with self.publisher.loan(data=size, **shape) as filtered:
            filtered.as_array()[:] = kept
        self.get_logger().info("%d of %d points", kept.size, points.size)
        self.left -= 1
        if self.left == 0:
            self.executor.cancel()


def lidar(node):
    """Publishes random points like a lidar."""
    publisher = node.create_publisher(PointCloud2, "points", gantry.qos_profile_sensor_data)
    points = numpy.zeros(10_000, [("x", "f4"), ("y", "f4"), ("z", "f4"), ("intensity", "f4")])
    points["z"] = numpy.random.default_rng(1).uniform(0, 1, points.size)
    return node.create_timer(0.1, lambda: publisher.publish(PointCloud2.from_array(points)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=-1, help="clouds until the end [default: no end]")
    parser.add_argument("--test", action="store_true", help="publish clouds, too")
    options, _ = parser.parse_known_args()
    gantry.init()
    with Filter(options.count) as node:
        if options.test:
            lidar(node)
        results = node.create_subscription(PointCloud2, "points_filtered", gantry.qos_profile_sensor_data)
        gantry.spin(node)
        filtered = results.take()
        if filtered is not None:
            print(f"{filtered.width} points above the ground, the lowest at {filtered.as_array()['z'].min():.2f} m")
