"""Runs each example as its first line describes, and checks its output. `.ci/steps/python` calls this test."""

import importlib.util
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def start(name, *arguments):
    """Starts an example."""
    command = [sys.executable, str(FOLDER / name), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def finish(process, name, expected):
    """Waits for an example and checks its output."""
    output, _ = process.communicate(timeout=60)
    if process.returncode != 0 or expected not in output:
        sys.exit(f"FAILED: {name} ({process.returncode}): {output}")
    print(f"{name}: {output.splitlines()[-1]}")


def beside_camera(name, module, expected):
    """Runs a viewer together with the camera, if the viewer's library is installed."""
    if importlib.util.find_spec(module) is None:
        print(f"SKIPPED: python: {name} needs {module}, which is not installed")
        return
    viewer = start(name, "--count", "5")
    camera = start("camera.py")
    try:
        finish(viewer, name, expected)
    finally:
        camera.terminate()
        camera.communicate()
    if camera.returncode != 0:
        sys.exit(f"FAILED: camera.py ended with {camera.returncode} after SIGTERM")


beside_camera("viewer_opencv.py", "cv2", "camera: 640 × 480")
beside_camera("torch_model.py", "torch", "features (1, 8, 120, 160)")
finish(start("cloud_filter.py", "--test", "--count", "3"), "cloud_filter.py", "points above the ground, the lowest at 0.20 m")
server = start("service.py", "server")
try:
    finish(start("service.py", "client", "2", "3"), "service.py", "5")
finally:
    server.terminate()
    server.communicate()
finish(start("asyncio_node.py", "5"), "asyncio_node.py", "switched on")
