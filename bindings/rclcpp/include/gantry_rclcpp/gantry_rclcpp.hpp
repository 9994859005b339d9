// Messages in place in nodes of rclcpp: publishers that write into shared memory, and subscriptions that read there.
//
// The node runs over rmw_gantry, whose topics these are: names, namespaces, remapping, QoS and the graph are the node's, and
// peers are any nodes over rmw_gantry, and Gantry's own. The node's executor calls the callbacks; no thread is added.
//
//   #include <gantry_msgs/sensor_msgs/msg/image.hpp>
//   #include <gantry_rclcpp/gantry_rclcpp.hpp>
//
//   auto images = gantry::create_subscription<sensor_msgs::msg::Image>(
//       node, "image", rclcpp::SensorDataQoS(), [](gantry::Sample<gantry_msgs::sensor_msgs::msg::Image> image) {
//           use(image->width(), image->data());  // in the memory of the camera
//       });
#pragma once

#include <gantry_rclcpp/publisher.hpp>
#include <gantry_rclcpp/subscription.hpp>
