"""A viewer with OpenCV that reads the images of a camera in shared memory. `python viewer_opencv.py [--count N]`"""

import argparse

import cv2

import gantry
from gantry.messages.sensor_msgs.msg import Image

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=-1, help="images until the end [default: no end]")
    options, _ = parser.parse_known_args()
    gantry.init()
    with gantry.Node("viewer") as node:
        for image in node.create_subscription(Image, "image", gantry.qos_profile_sensor_data):
            # OpenCV reads the pixels in the memory where the camera wrote them.
            gray = cv2.cvtColor(image.as_array(), cv2.COLOR_BGR2GRAY)
            edges = cv2.Canny(gray, 100, 200)
            print(f"{image.header.frame_id}: {image.width} × {image.height}, {edges.mean() / 2.55:.1f} % edges", flush=True)
            options.count -= 1
            if options.count == 0:
                break
