"""A torch model that reads the images of a camera in shared memory. `python torch_model.py [--count N]`"""

import argparse

import torch

import gantry
from gantry.messages.sensor_msgs.msg import Image

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=-1, help="images until the end [default: no end]")
    options, _ = parser.parse_known_args()
    model = torch.nn.Conv2d(3, 8, 3, stride=4).eval()
    gantry.init()
    with torch.no_grad(), gantry.Node("model") as node:
        for image in node.create_subscription(Image, "image", gantry.qos_profile_sensor_data):
            # The tensor shares the camera's memory and keeps it alive. Torch has no read-only tensors: writing to it
            # would crash.
            pixels = torch.from_dlpack(image.as_array())
            features = model(pixels.permute(2, 0, 1).unsqueeze(0).float() / 255)
            print(f"features {tuple(features.shape)}, mean {features.mean():.3f}", flush=True)
            options.count -= 1
            if options.count == 0:
                break
