# Adds requests and responses of services to the IDL of `perf_test idl`: each message with the id of the client and the
# number of the request before it, as ROS 2 sends them over Cyclone DDS.
{ print }
/^  struct / { name = $2; is_message = 0 }
/^    long long time;/ || /PerformanceHeader_ header;/ { is_message = 1 }
/^  };/ && is_message {
    print "  @final\n  struct " name "Call_ {\n    unsigned long long client;\n    long long number;\n    " name " message;\n  };"
    is_message = 0
}
