// Messages in shared memory for nodes of rclcpp: publishers that write there, and subscriptions that read there.
//
// The node must use rmw_gantry. Its endpoints are ordinary endpoints of the node: names, namespaces, remapping, QoS and
// the graph work as usual. They match with any node over rmw_gantry and with Gantry's own nodes. The node's executor
// calls the callbacks; no thread is added. For the least latency, give rclcpp's EventsExecutor a gantry::EventsQueue.
//
//   #include <gantry_msgs/sensor_msgs/msg/image.hpp>
//   #include <gantry_rclcpp/gantry_rclcpp.hpp>
//
//   auto images = gantry::create_subscription<sensor_msgs::msg::Image>(
//       node, "image", rclcpp::SensorDataQoS(), [](gantry::Sample<gantry_msgs::sensor_msgs::msg::Image> image) {
//           use(image->width(), image->data());  // in the memory of the camera
//       });
#pragma once

#include <gantry_rclcpp/events_queue.hpp>
#include <gantry_rclcpp/publisher.hpp>
#include <gantry_rclcpp/subscription.hpp>
