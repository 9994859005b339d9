// Tests of parameters: the command line, types, refusals, and another node that reads and sets them by services.
#include "check.hpp"

#include <gantry.hpp>
#include <gantry_msgs/rcl_interfaces/srv/get_parameters.hpp>
#include <gantry_msgs/rcl_interfaces/srv/set_parameters.hpp>
#include <gantry_msgs/std_msgs/msg/string.hpp>

using gantry_msgs::rcl_interfaces::srv::GetParameters;
using gantry_msgs::rcl_interfaces::srv::SetParameters;
using gantry_msgs::std_msgs::msg::String;

static gantry::Node node_with_arguments() {
    gantry::NodeOptions options;
    options.arguments = {"--ros-args", "-p", "rate:=50.0", "-p", "frame:=map", "-p", "extra:=[1, 2]"};
    return ok(gantry::Node::create("declaring", options));
}

static void declared_values(const gantry::Node &node) {
    gantry::ParameterDescriptor descriptor;
    descriptor.floating_point_range = gantry::FloatingPointRange{0, 60, 0};
    const double rate = ok(node.declare_parameter("rate", 30.0, descriptor));
    const std::string frame = ok(node.declare_parameter("frame", "base"));
    const std::int64_t gear = ok(node.declare_parameter("drive.gear", 1));
    const std::vector<bool> lamps = ok(node.declare_parameter("drive.lamps", std::vector<bool>{true, false}));
    const auto names = ok(node.declare_parameter("names", std::vector<std::string>{"left", "right"}));
    CHECK(rate == 50.0 && frame == "map" && gear == 1 && lamps.size() == 2 && lamps[0] && !lamps[1]);
    CHECK(names == (std::vector<std::string>{"left", "right"}) && node.has_parameter("names"));
    CHECK(!node.has_parameter("extra"));

    CHECK(!node.set_parameter({"rate", 25}));  // an integer
    ok(node.set_parameter({"rate", 25.0}));
    CHECK(ok(node.get_parameter<double>("rate")) == 25.0);
    const auto refused = node.set_parameters_atomically({{"drive.gear", 2}, {"rate", 61.0}});
    CHECK(!refused && refused.error().status == GANTRY_INVALID_ARGUMENT);
    CHECK(refused.error().message.find("out of range") != std::string::npos);
    CHECK(ok(node.get_parameter<std::int64_t>("drive.gear")) == 1);
    CHECK(!node.get_parameter<bool>("rate") && !node.get_parameter<double>("missing"));
    const auto below = ok(node.get_parameters_by_prefix("drive"));
    CHECK(below.size() == 2 && std::get<std::int64_t>(below.at("gear")) == 1);
}

static void dynamic_types() {
    gantry::NodeOptions options;
    options.arguments = {"--ros-args", "-p", "extra:=[1, 2]"};
    options.automatically_declare_parameters_from_overrides = options.allow_undeclared_parameters = true;
    auto node = ok(gantry::Node::create("dynamic", options));
    CHECK(ok(node.get_parameter<std::vector<std::int64_t>>("extra")) == (std::vector<std::int64_t>{1, 2}));
    ok(node.set_parameter({"extra", "text"}));
    ok(node.set_parameter({"new", true}));
    CHECK(std::get<std::string>(ok(node.get_parameter("extra"))) == "text" && ok(node.get_parameter<bool>("new")));
    ok(node.undeclare_parameter("extra"));
    CHECK(!node.has_parameter("extra"));
}

static void callbacks(const gantry::Node &node) {
    auto seen = std::make_shared<std::vector<std::string>>();
    auto refusing = ok(node.add_on_set_parameters_callback([seen](const std::vector<gantry::Parameter> &changes) {
        for (const auto &change : changes) seen->push_back(change.name);
        const auto *gear = changes[0].get_if<std::int64_t>();
        return gear && *gear < 0 ? gantry::SetParametersResult{false, "not while driving"} : gantry::SetParametersResult{};
    }));
    const auto refused = node.set_parameter({"drive.gear", -1});
    CHECK(!refused && refused.error().message.find("not while driving") != std::string::npos);
    ok(node.set_parameter({"drive.gear", 3}));
    CHECK(seen->size() == 2 && seen.use_count() == 2);
    refusing.reset();
    CHECK(seen.use_count() == 1);
    ok(node.set_parameter({"drive.gear", -1}));
}

// No thread of this program spins `declaring`.
static void services() {
    auto node = ok(gantry::Node::create("asking"));
    auto get = ok(node.create_client<GetParameters>("declaring/get_parameters"));
    auto set = ok(node.create_client<SetParameters>("declaring/set_parameters"));
    CHECK(ok(get.wait_for_service(PATIENCE)) && ok(set.wait_for_service(PATIENCE)));
    GetParameters::Request::Shape names;
    names.names = {"frame", "drive.gear"};
    const auto values = ok(get.call(ok(get.loan_request(names)), PATIENCE));
    auto value = values->values().begin();
    CHECK((*value).string_value() == "map" && (*++value).integer_value() == -1);

    SetParameters::Request::Shape change;
    change.parameters.resize(1);
    change.parameters[0].name = "rate";
    auto request = ok(set.loan_request(change));
    for (auto parameter : request->parameters()) {
        parameter.value().set_type(GANTRY_PARAMETER_DOUBLE);
        parameter.value().set_double_value(12.5);
    }
    const auto answer = ok(set.call(std::move(request), PATIENCE));
    CHECK((*answer->results().begin()).successful());
}

// A node that declares nothing itself serves its parameters, too.
static void overrides_are_served() {
    gantry::NodeOptions options;
    options.arguments = {"--ros-args", "-p", "extra:=text"};
    options.automatically_declare_parameters_from_overrides = true;
    auto offering = ok(gantry::Node::create("offering", options));
    auto node = ok(gantry::Node::create("asking_again"));
    auto get = ok(node.create_client<GetParameters>("offering/get_parameters"));
    CHECK(ok(get.wait_for_service(PATIENCE)));
    GetParameters::Request::Shape names;
    names.names = {"extra"};
    const auto values = ok(get.call(ok(get.loan_request(names)), PATIENCE));
    CHECK((*values->values().begin()).string_value() == "text");
}

static void endpoints_and_names() {
    gantry::NodeOptions options;
    options.arguments = {"--ros-args", "-r", "chatter:=/talk"};
    options.name_space = "/left";
    auto node = ok(gantry::Node::create("looking", options));
    CHECK(ok(node.resolve_topic_name("chatter")) == "/talk" && ok(node.resolve_topic_name("scan")) == "/left/scan");
    while (ok(node.wait_for_graph_change(std::chrono::nanoseconds(0)))) continue;
    auto publisher = ok(node.create_publisher<String>("chatter", gantry::QoS(3).best_effort()));
    CHECK(ok(node.wait_for_graph_change(PATIENCE)));
    const auto publishers = ok(node.get_publishers_info_by_topic("chatter"));
    CHECK(publishers.size() == 1 && ok(node.get_subscriptions_info_by_topic("chatter")).empty());
    CHECK(publishers[0].node_name == "/left/looking" && publishers[0].topic_name == "/talk");
    CHECK(publishers[0].qos_profile.depth == 3 && publishers[0].topic_type == "std_msgs/msg/String");
    const gantry_gid gid = publisher.generic().get_gid();
    CHECK(std::memcmp(&publishers[0].endpoint_gid, &gid, sizeof gid) == 0);
}

// A function before a change adds a parameter, and a function after the change sees both.
static void before_and_after_changes() {
    auto node = ok(gantry::Node::create("around"));
    gantry::ParameterDescriptor percent;
    percent.description = "of the full power";
    percent.integer_range = gantry::IntegerRange{0, 100, 5};
    ok(node.declare_parameter("drive.power", 50, percent));
    ok(node.declare_parameter("drive.modes", std::vector<std::string>{"slow"}));
    const auto described = ok(node.describe_parameter("drive.power"));
    CHECK(described.name == "drive.power" && described.type == GANTRY_PARAMETER_INTEGER && !described.read_only);
    CHECK(described.description == "of the full power" && described.integer_range->step == 5 && !described.floating_point_range);
    CHECK(node.describe_parameter("drive").error().status == GANTRY_INVALID_ARGUMENT);
    CHECK(ok(node.list_parameters({"drive"})) == (std::vector<std::string>{"drive.modes", "drive.power"}));
    CHECK(ok(node.list_parameters()).size() == 3 && ok(node.list_parameters({}, 1)).size() == 1);

    auto before = ok(node.add_pre_set_parameters_callback([](std::vector<gantry::Parameter> &changes) {
        changes.push_back({"drive.modes", std::vector<std::string>{"fast", "a text that is too long for the object itself"}});
    }));
    std::vector<std::string> seen;
    auto after = ok(node.add_post_set_parameters_callback([&](const std::vector<gantry::Parameter> &changes) {
        for (const auto &change : changes) seen.push_back(change.name);
    }));
    ok(node.set_parameter({"drive.power", 55}));
    CHECK(seen == (std::vector<std::string>{"drive.power", "drive.modes"}));
    CHECK(ok(node.get_parameter<std::vector<std::string>>("drive.modes"))[0] == "fast");
    before.reset();
    after.reset();
    ok(node.set_parameter({"drive.power", 60}));
    CHECK(seen.size() == 2);
    before = ok(node.add_pre_set_parameters_callback([](std::vector<gantry::Parameter> &changes) { changes.clear(); }));
    CHECK(!node.set_parameter({"drive.power", 65}) && ok(node.get_parameter<std::int64_t>("drive.power")) == 60);
}

// The command line alone gives a node parameter services.
static void only_use_sim_time() {
    gantry::NodeOptions options;
    options.arguments = {"--ros-args", "-p", "use_sim_time:=false"};
    auto offering = ok(gantry::Node::create("with_sim_time", options));
    auto node = ok(gantry::Node::create("asking_for_sim_time"));
    auto get = ok(node.create_client<GetParameters>("with_sim_time/get_parameters"));
    CHECK(ok(get.wait_for_service(PATIENCE)));
    GetParameters::Request::Shape names;
    names.names = {"use_sim_time"};
    const auto values = ok(get.call(ok(get.loan_request(names)), PATIENCE));
    CHECK(!(*values->values().begin()).bool_value());
}

// A program that does not know the type of a topic finds it in the graph.
static void types_of_topics() {
    auto node = ok(gantry::Node::create("typed"));
    auto publisher = ok(node.create_publisher<String>("typed", gantry::QoS(1).transient_local()));
    const auto types = ok(node.get_topic_types("typed"));
    CHECK(types.size() == 1 && std::string(types[0].name) == "std_msgs/msg/String" && ok(node.get_topic_types("none")).empty());
    auto any = ok(node.create_generic_subscription("typed", types[0], gantry::QoS(1).transient_local()));
    ok(publisher.publish({"text"}, [](auto &) {}));
    CHECK(ok(any.wait(PATIENCE)));
    const auto sample = ok(any.take());
    CHECK(ok(gantry::cdr::view<String>(sample->bytes().data(), sample->bytes().size())).data() == "text");
    auto service = ok(node.create_service<GetParameters>("typed_service"));
    const auto services = ok(node.get_service_types("typed_service"));
    CHECK(services.size() == 1 && std::string(services[0].name) == "rcl_interfaces/srv/GetParameters");
}

int main() {
    auto node = node_with_arguments();
    declared_values(node);
    callbacks(node);
    services();
    CHECK(ok(node.get_parameter<double>("rate")) == 12.5);
    dynamic_types();
    overrides_are_served();
    before_and_after_changes();
    only_use_sim_time();
    types_of_topics();
    endpoints_and_names();
    return 0;
}
