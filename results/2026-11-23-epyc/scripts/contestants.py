"""The RMWs that are compared, each with its default settings and at its best, and what their processes use."""
import glob, os, signal, subprocess, time

ROS = os.environ.get("ROS", "/opt/ros/jazzy")
GANTRY = os.environ.get("GANTRY", "target/release")  # the folder of librmw_gantry.so
HERE = os.path.dirname(os.path.abspath(__file__))
LOGS = os.environ.get("LOGS", HERE + "/logs")

# name: (RMW, loans of publisher and subscription, RouDi). The first of an RMW is its default.
CONTESTANTS = {
    "gantry": ("rmw_gantry", False, False),
    "gantry, loaned": ("rmw_gantry", True, False),
    "cyclonedds": ("rmw_cyclonedds_cpp", False, False),
    "cyclonedds, best": ("rmw_cyclonedds_cpp", True, True),
    "fastrtps": ("rmw_fastrtps_cpp", False, False),
    "fastrtps, best": ("rmw_fastrtps_cpp", True, False),
}
CYCLONE = """<CycloneDDS><Domain Id="any"><General><MaxMessageSize>65500B</MaxMessageSize></General>
<Internal><SocketReceiveBufferSize max="10MB"/></Internal>
<SharedMemory><Enable>true</Enable><LogLevel>warn</LogLevel></SharedMemory></Domain></CycloneDDS>"""
# Data sharing for types of fixed size; {transport}: of others, a segment that holds several messages unfragmented.
FAST = """<?xml version="1.0" encoding="UTF-8" ?><dds xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles"><profiles>
{transport}
<data_writer profile_name="writer" is_default_profile="true"><qos><data_sharing><kind>AUTOMATIC</kind></data_sharing></qos></data_writer>
<data_reader profile_name="reader" is_default_profile="true"><qos><data_sharing><kind>AUTOMATIC</kind></data_sharing></qos></data_reader>
</profiles></dds>"""
FAST_TRANSPORT = """<transport_descriptors><transport_descriptor><transport_id>shm</transport_id><type>SHM</type>
<segment_size>{segment}</segment_size><maxMessageSize>{message}</maxMessageSize></transport_descriptor></transport_descriptors>
<participant profile_name="participant" is_default_profile="true"><rtps><userTransports><transport_id>shm</transport_id></userTransports>
<useBuiltinTransports>false</useBuiltinTransports></rtps></participant>"""


def environment(name, domain, message_bytes=1024, fixed=True, processes=2):
    """The environment of a process of this contestant, for messages of this size (of fixed size or unsized)."""
    rmw, loans, _ = CONTESTANTS[name]
    env = dict(os.environ, RMW_IMPLEMENTATION=rmw, ROS_DOMAIN_ID=str(domain), ROS_LOG_DIR=LOGS + "/ros", ROS_DISTRO="jazzy")
    for variable in ("CYCLONEDDS_URI", "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE",
                     "RMW_FASTRTPS_USE_QOS_FROM_XML", "ROS_DISABLE_LOANED_MESSAGES"):
        env.pop(variable, None)
    if rmw == "rmw_gantry":
        env["LD_LIBRARY_PATH"] = GANTRY + ":" + env["LD_LIBRARY_PATH"]
    if loans:
        env["ROS_DISABLE_LOANED_MESSAGES"] = "0"
    if processes > 30 and rmw == "rmw_cyclonedds_cpp":  # by default a 33rd process cannot join
        env["CYCLONEDDS_URI"] = ("<CycloneDDS><Domain><Discovery><ParticipantIndex>auto</ParticipantIndex>"
                                 "<MaxAutoParticipantIndex>119</MaxAutoParticipantIndex></Discovery></Domain></CycloneDDS>")
    if loans and rmw == "rmw_cyclonedds_cpp":
        env["CYCLONEDDS_URI"] = CYCLONE
    if loans and rmw == "rmw_fastrtps_cpp":
        transport = ""
        if not fixed and message_bytes > 32768:
            transport = FAST_TRANSPORT.format(segment=12 * message_bytes, message=message_bytes + 65536)
        file = f"{LOGS}/fastdds-{'fixed' if not transport else message_bytes}.xml"
        with open(file, "w") as f:
            f.write(FAST.format(transport=transport))
        env.update(FASTRTPS_DEFAULT_PROFILES_FILE=file, RMW_FASTRTPS_USE_QOS_FROM_XML="1")
    return env


class RouDi:
    """iceoryx's daemon, with pools for messages of this size, where a contestant needs it."""

    def __init__(self, name, message_bytes=1024, chunks=64):
        self.process = None
        if not CONTESTANTS[name][2]:
            return
        pools = {128: 4096, 1024: 4096, 16384: 1024}
        if message_bytes > 8192:
            pools[(message_bytes + 4096 + 63) // 64 * 64] = chunks
        file = f"{LOGS}/roudi-{message_bytes}.toml"
        with open(file, "w") as f:
            f.write("[general]\nversion = 1\n\n[[segment]]\n")
            for size, count in sorted(pools.items()):
                f.write(f"\n[[segment.mempool]]\nsize = {size}\ncount = {count}\n")
        clean_up()
        self.process = subprocess.Popen([ROS + "/bin/iox-roudi", "-c", file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        output = b""
        while b"ready for clients" not in output:
            line = self.process.stdout.readline()
            output += line
            if not line:
                raise RuntimeError("RouDi ended: " + output.decode())

    def usage(self):
        return usage(self.process.pid) if self.process else {"cpu_ns": 0, "rss": 0, "pss": 0, "peak": 0}

    def end(self):
        if self.process:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            clean_up()


def clean_up():
    """Removes what iceoryx and Fast DDS leave behind, so that a run does not depend on the one before it."""
    for pattern in ("/dev/shm/iceoryx_mgmt", "/dev/shm/root", "/tmp/iceoryx_rt_*", "/tmp/roudi"):
        for file in glob.glob(pattern):
            os.unlink(file)


def usage(pid):
    """CPU time (of the threads that live), resident, proportional and peak memory of a process, in ns and bytes."""
    cpu = 0
    for task in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            cpu += int(open(task).read().split()[0])
        except OSError:
            pass
    values = {"cpu_ns": cpu}
    for file, field, key in (("status", "VmRSS:", "rss"), ("status", "VmHWM:", "peak"), ("smaps_rollup", "Pss:", "pss")):
        for line in open(f"/proc/{pid}/{file}"):
            if line.startswith(field):
                values[key] = int(line.split()[1]) * 1024
    return values


def shared_bytes():
    """The bytes in use of /dev/shm."""
    s = os.statvfs("/dev/shm")
    return (s.f_blocks - s.f_bfree) * s.f_frsize


def end(process, seconds=10):
    """Waits for the end of a process, kills it after this time, and returns its exit code."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return "killed"


def span(values, digits=3):
    """Median, and the least and largest of the rounds, as text."""
    values = sorted(v for v in values if v is not None)
    if not values:
        return "–"
    text = lambda v: f"{v:,.0f}" if v >= 100 else f"{v:.{digits}g}"
    low, high = text(values[0]), text(values[-1])
    return text(median(values)) + (f" ({low}–{high})" if low != high else "")


def median(values):
    values = sorted(values)
    n = len(values)
    return (values[n // 2] + values[(n - 1) // 2]) / 2


def progress(text):
    print(time.strftime("%H:%M:%S"), text, flush=True)
