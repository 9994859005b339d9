// Gantry in C++17: nodes, topics, services, timers and executors over shared memory. The names are the same as in
// rclcpp.
//
// These headers wrap gantry.h, which has the rules for threads and real time. Functions that can fail return a
// gantry::result. Only result::value() throws. The program `gantry` generates the message classes; in CMake, call
// gantry_generate_messages.
//
//   gantry::Node node = gantry::Node::create("camera").value();
//   auto publisher = node.create_publisher<Image>("image").value();
//   Image::Shape shape;
//   shape.encoding = "rgb8";
//   shape.data = 1920 * 1080 * 3;
//   auto image = publisher.loan(shape).value();   // in shared memory
//   image->set_width(1920);
//   std::fill(image->data().begin(), image->data().end(), 0x7f);
//   publisher.publish(std::move(image)).value();
#pragma once

#include <gantry/executor.hpp>
#include <gantry/multi_threaded_executor.hpp>
#include <gantry/node.hpp>
#include <gantry/program.hpp>
#include <gantry/wait_set.hpp>
