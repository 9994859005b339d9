# Writes the table that message.c includes: a line for each message of `perf_test idl`. A message is a struct with time
# and id, or with a header. `layout` is the value of --message-layout, `prefix` is the prefix of the C names.

/^module [a-z_]+ \{$/ { package = $2 }
/^  struct / { name = $2; time = header = field = ""; payload_bytes = 0 }
/^    long long time;/ { time = "time" }
/PerformanceHeader_ header;/ { header = "header" }
/^    [a-z ]+ data\[/ { field = "data"; payload_bytes = "sizeof(((T *)0)->data)" }
/^    sequence</ { field = $NF; payload_bytes = match($0, /, [0-9]+>/) ? substr($0, RSTART + 2, RLENGTH - 3) : 0 }
/^    string / { field = $NF }
/^  };/ && (time || header) {
    sub(/;/, "", field)
    c_name = prefix package "_msg_dds__" name
    if (!field) payload_bytes = "offsetof(T, time)"
    gsub(/T/, c_name, payload_bytes)
    printf "{\"%s\", \"%s\", &%s_desc, sizeof(%s), &%sCall__desc, sizeof(%sCall_), %s, %s, %s, %s, %s},\n", layout,
        substr(name, 1, length(name) - 1), c_name, c_name, c_name, c_name, header ? "true" : "false",
        time ? "offsetof(" c_name ", time)" : 0, time ? "offsetof(" c_name ", id)" : 0,
        field ? "offsetof(" c_name ", " field ")" : 0, payload_bytes
}
